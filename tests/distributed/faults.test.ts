import { setTimeout as pause } from 'node:timers/promises';
import { type Load, loadEvent, seededRandom } from '@weir/testkit/load';
import { FAULTS_ENV, faultSeed, say } from '../faults/exactly-once.ts';
import { describeDistributed } from './deployment.ts';
import { CLIENTS, underLoad } from './under-load.ts';

/** How long ClickHouse is stopped. The fault has a duration, so a pause of this length is part of the test. */
const CLICKHOUSE_AWAY_MS = process.env.CI === 'true' ? 30_000 : 10_000;
const BROKER_STOPPED_MS = 8_000;
const TURNS = 3;
const KEYS_AGAIN_MAX = 300;

jest.setTimeout(600_000);

describeDistributed('faults of a deployment, under load: nothing lost, nothing twice', FAULTS_ENV, (weir) => {
  const seed = faultSeed();
  const random = seededRandom(seed);
  beforeAll(() => say(`distributed faults: WEIR_FAULT_SEED=${seed}`));

  test('kill -9 of each process of each role, one after the other', async () => {
    const { gateways, enrichers, writers, control } = weir();
    await underLoad('kill -9 of a role', weir(), async () => {
      const readyMs: string[] = [];
      const each = { gateway: gateways, enricher: enrichers, writer: writers, control: [control] };
      for (const [role, processes] of Object.entries(each)) {
        for (const victim of processes) {
          await pause(200 + random() * 800);
          await victim.kill9();
          readyMs.push(`${role} ${Math.round(await victim.restart())}`);
        }
      }
      return `ready again after ms: ${readyMs.join(', ')}`;
    });
  });

  test(`SIGSTOP of the broker for ${BROKER_STOPPED_MS / 1000} s`, async () => {
    const { kafka } = weir().services;
    await underLoad('SIGSTOP of the broker', weir(), async () => {
      await kafka.pause();
      await pause(BROKER_STOPPED_MS);
      kafka.resume();
    });
  });

  test('kill -9 of the broker', async () => {
    const { kafka } = weir().services;
    await underLoad('kill -9 of the broker', weir(), async () => {
      await kafka.kill9();
      await kafka.up();
    });
  });

  test('kill -9 and wipe of Redis, after which stored keys are sent again', async () => {
    const { redis } = weir().services;
    await underLoad('kill -9 and wipe of Redis', weir(), async (load, key) => {
      const stored = [...load.acknowledgedKeys].slice(0, KEYS_AGAIN_MAX);
      await redis.kill9();
      redis.wipe();
      await pause(random() * 2_000);
      await redis.up();
      const counts: Record<string, number> = {};
      for (const name of stored) {
        const { status } = await weir().client.events(key, loadEvent(name));
        counts[status] = (counts[status] ?? 0) + 1;
      }
      expect(Object.keys(counts).filter((status) => !['200', '202'].includes(status))).toEqual([]);
      return `${stored.length} stored keys were sent again and answered ${JSON.stringify(counts)}`;
    });
  });

  test(`ClickHouse is unavailable for ${CLICKHOUSE_AWAY_MS / 1000} s`, async () => {
    const { clickhouse } = weir().services;
    const acknowledged: number[] = [];
    const away = async (load: Load): Promise<void> => {
      await clickhouse.kill9();
      for (let third = 0; third < 3; third++) {
        const before = load.acknowledgedKeys.size + load.acknowledgedHits.size;
        await pause(CLICKHOUSE_AWAY_MS / 3);
        acknowledged.push(load.acknowledgedKeys.size + load.acknowledgedHits.size - before);
      }
      await clickhouse.up();
    };
    const load = await underLoad('ClickHouse away', weir(), away, 30_000);
    // Gateways do not need ClickHouse, so they accept requests all the time while it is stopped. More than one request of each client is
    // acknowledged, so these are not only requests that were sent before.
    say(`ClickHouse away: ${acknowledged.join(', ')} acknowledged in each third of the time`);
    expect(Math.min(...acknowledged)).toBeGreaterThan(CLIENTS);
    // A few retries are allowed, because Kafka can be slow for a moment.
    expect(load.retries()).toBeLessThan(CLIENTS);
  });

  test('an enricher and a writer join and leave every few seconds', async () => {
    await underLoad('joining and leaving', weir(), async () => {
      const left: string[] = [];
      for (let turn = 0; turn < TURNS; turn++) {
        const guests = await Promise.all([weir().start('enricher', FAULTS_ENV), weir().start('writer', FAULTS_ENV)]);
        await pause(1_000 + random() * 2_000);
        await Promise.all(guests.map((guest) => (turn % 2 === 0 ? guest.stop() : guest.kill9())));
        left.push(turn % 2 === 0 ? 'SIGTERM' : 'kill -9');
        await pause(random() * 1_000);
      }
      return `left by ${left.join(', ')}`;
    });
  });
});
