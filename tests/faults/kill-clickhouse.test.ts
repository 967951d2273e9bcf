import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { startWeir } from '@weir/testkit/weir-process';
import { expectExactlyOnce, FAULTS_ENV, faultRandom, say } from './exactly-once.ts';

const KILLS = Number(process.env.WEIR_CLICKHOUSE_KILLS ?? 8);
const CLIENTS = 16;

test(`kill -9 of the ClickHouse child at ${KILLS} random moments under load: no event is lost or stored twice`, async () => {
  const random = faultRandom('kill-clickhouse');
  const weir = await startWeir({ env: FAULTS_ENV });
  try {
    const { site, key } = await weir.client.createSiteWithKey();
    const load = startLoad({ url: weir.url, site, key, clients: CLIENTS, timeoutMs: 30_000 });
    const backMs: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(50 + random() * 700); // the fault happens at a random moment, so the pause is part of the test
      const before = load.acknowledgedKeys.size;
      weir.killClickhouse();
      const killedAt = performance.now();
      await eventually('the gateway to go on accepting', () => load.acknowledgedKeys.size > before + CLIENTS);
      await eventually('SQL to answer again', async () => (await weir.client.number('SELECT 1')) === 1);
      backMs.push(Math.round(performance.now() - killedAt));
    }
    await load.stop();
    say(
      `kill-clickhouse: ${load.acknowledgedKeys.size} events, ${load.acknowledgedHits.size} hits, ${load.retries()} retries`,
    );
    say(`kill-clickhouse: SQL again after ${backMs.toSorted((a, b) => a - b).join(', ')} ms`);
    expect(load.retries()).toBe(0);
    await expectExactlyOnce(weir, site, load);
  } finally {
    await weir.stop();
  }
}, 240_000);
