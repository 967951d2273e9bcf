import { setTimeout as pause } from 'node:timers/promises';
import { startLoad } from '@weir/testkit/load';
import { startWeir } from '@weir/testkit/weir-process';
import { expectExactlyOnce, FAULTS_ENV, faultRandom, say } from './exactly-once.ts';

const KILLS = Number(process.env.WEIR_GROUP_KILLS ?? 8);
const CLIENTS = 16;

test(`kill -9 of the whole process group at ${KILLS} random moments under load: no event is lost or stored twice`, async () => {
  const random = faultRandom('kill-group');
  const weir = await startWeir({ env: FAULTS_ENV });
  try {
    const { site, key } = await weir.client.createSiteWithKey();
    const load = startLoad({ url: weir.url, site, key, clients: CLIENTS });
    const readyMs: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(50 + random() * 800); // the fault happens at a random moment, so the pause is part of the test
      await weir.kill9();
      readyMs.push(await weir.restart());
    }
    await load.stop();
    const sorted = readyMs.toSorted((a, b) => a - b).map(Math.round);
    say(
      `kill-group: ${load.acknowledgedKeys.size} events, ${load.acknowledgedHits.size} hits, ${load.retries()} retries`,
    );
    say(`kill-group: ready again after ${sorted.join(', ')} ms`);
    await expectExactlyOnce(weir, site, load);
  } finally {
    await weir.stop();
  }
}, 240_000);
