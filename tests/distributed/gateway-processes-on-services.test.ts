import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import { seededRandom } from '@weir/testkit/load';
import { bearer } from '@weir/testkit/weir-client';
import { FAULTS_ENV, faultSeed, say } from '../faults/exactly-once.ts';
import { describeDistributed } from './deployment.ts';
import { underLoad } from './under-load.ts';

const KILLS_PER_GATEWAY = 3;
const REQUESTS = 300;
const LIMIT = 100;
const ANSWERS_IN_A_ROW = 10;

jest.setTimeout(300_000);

describeDistributed('gateways with two processes each', { ...FAULTS_ENV, WEIR_GATEWAY_PROCESSES: '2' }, (weir) => {
  const seed = faultSeed();
  const random = seededRandom(seed);
  beforeAll(() => say(`gateway processes on services: WEIR_FAULT_SEED=${seed}`));

  test('a rate limit is counted for all processes of all gateways together', async () => {
    const { client, gateways } = weir();
    const site = await client.createSite();
    await client.must(200, 'PATCH', `/sites/${site}`, { limits: { events: LIMIT } });
    // Each API key has its own count. The requests that wait until the new limit applies use another key.
    const [{ key }, probe] = [await client.createKey(site), await client.createKey(site)];
    const sendTo = (url: string, sender: string) =>
      sendHttp(url, { path: '/api/v1/events', headers: bearer(sender), body: { name: 'x' } });
    const send = (nth: number) => sendTo(gateways[nth % gateways.length]?.url ?? '', key);
    // A gateway gives each new connection to its next process. So `ANSWERS_IN_A_ROW` answers with the new limit come from both processes.
    for (const { url } of gateways) {
      let inForce = 0;
      await eventually(`${url}: the limit to be in force in both processes`, async () => {
        const { headers } = await sendTo(url, probe.key);
        inForce = headers['ratelimit-limit'] === `${LIMIT}` ? inForce + 1 : 0;
        return inForce === ANSWERS_IN_A_ROW;
      });
    }
    const answers = await Promise.all(Array.from({ length: REQUESTS }, (_, nth) => send(nth)));
    const accepted = answers.filter(({ status }) => status === 202).length;
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(REQUESTS - accepted);
    expect(accepted).toBeLessThanOrEqual(LIMIT);
    expect(accepted).toBeGreaterThan(0);
  });

  test('kill -9 of gateway processes under load', async () => {
    const { gateways } = weir();
    await underLoad('kill -9 of gateway processes', weir(), async () => {
      for (let kill = 0; kill < KILLS_PER_GATEWAY * gateways.length; kill++) {
        const gateway = gateways[kill % gateways.length];
        if (gateway === undefined) throw new Error('there is no gateway');
        await pause(200 + random() * 500); // the fault happens at a random moment, so the pause is part of the test
        const pids = gateway.gatewayPids();
        expect(pids).toHaveLength(2);
        const victim = pids[Math.floor(random() * pids.length)] ?? 0;
        process.kill(victim, 'SIGKILL');
        await eventually('two processes that accept requests', async () => {
          if (gateway.gatewayPids().includes(victim)) return false;
          const { text } = await sendHttp(gateway.url, { path: '/metrics' });
          return /^weir_gateway_processes 2$/m.test(text) && gateway.gatewayPids().length === 2;
        });
      }
    });
  });
});
