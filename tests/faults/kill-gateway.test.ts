import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { startWeir } from '@weir/testkit/weir-process';
import { expectExactlyOnce, FAULTS_ENV, faultRandom, say } from './exactly-once.ts';

const KILLS = Number(process.env.WEIR_GATEWAY_KILLS ?? 8);
const CLIENTS = 16;

test(`kill -9 of one of two gateway processes at ${KILLS} random moments under load: no event is lost or stored twice`, async () => {
  const random = faultRandom('kill-gateway');
  const weir = await startWeir({ env: { ...FAULTS_ENV, WEIR_GATEWAY_PROCESSES: '2' } });
  try {
    const { site, key } = await weir.client.createSiteWithKey();
    const load = startLoad({ url: weir.url, site, key, clients: CLIENTS });
    const mainPid = weir.pid();
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(50 + random() * 800); // the fault happens at a random moment, so the pause is part of the test
      const pids = weir.gatewayPids();
      const victim = pids[Math.floor(random() * pids.length)] ?? 0;
      process.kill(victim, 'SIGKILL');
      const acknowledged = load.acknowledgedKeys.size;
      await eventually('further events to be acknowledged', () => load.acknowledgedKeys.size > acknowledged);
      await eventually('two gateway processes', () => {
        const running = weir.gatewayPids();
        return running.length === 2 && !running.includes(victim);
      });
    }
    await load.stop();
    say(
      `kill-gateway: ${load.acknowledgedKeys.size} events, ${load.acknowledgedHits.size} hits, ${load.retries()} retries`,
    );
    expect(weir.pid()).toBe(mainPid);
    expect((await weir.client.send({ path: '/metrics' })).text).toContain(
      `weir_gateway_process_restarts_total ${KILLS}`,
    );
    await expectExactlyOnce(weir, site, load);
  } finally {
    await weir.stop();
  }
}, 240_000);
