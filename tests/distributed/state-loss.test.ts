import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { keptConnection, sendHttp } from '@weir/testkit/http-client';
import { seededRandom } from '@weir/testkit/load';
import { bearer } from '@weir/testkit/weir-client';
import { FAULTS_ENV, faultSeed, say } from '../faults/exactly-once.ts';
import { type Deployment, describeDistributed } from './deployment.ts';
import { redisCommand } from './redis-command.ts';

/** `WIPES,RESTORES`: how often Redis is wiped, and how often an older copy of its data is restored. */
const [WIPES = 0, RESTORES = 0] = (process.env.WEIR_STATE_LOSSES ?? '5,2').split(',').map(Number);
const CLIENTS = 8;
const REPEATED_SHARE = 0.2;
const ROUND_MS = 60_000;
const STEP_WITHIN_MS = 180_000;
/**
 * The probability that the test waits for the complete rebuild of the state before the next loss. Otherwise the next loss happens during the
 * rebuild.
 */
const WHOLE_SHARE = 0.8;
/** Between two losses, the test waits until more than this number of keys were acknowledged. */
const KEYS_BETWEEN = 200;
const NO_LIMITS = { collect: 100_000_000, events: 100_000_000, identify: 100_000_000 };

jest.setTimeout((WIPES + RESTORES) * ROUND_MS + 300_000);

interface RepeatingLoad {
  acknowledged(): number;
  sent(): number;
  stop(): Promise<void>;
}

/**
 * Sends server events. A fifth of them repeat a key that was acknowledged before, but with another user. The partition depends on the user, so a
 * repeat can be in another partition.
 */
function startRepeatingLoad(urls: readonly string[], key: string, random: () => number): RepeatingLoad {
  const acknowledged: string[] = [];
  let sent = 0;
  let stopped = false;

  async function untilAcknowledged(agent: ReturnType<typeof keptConnection>, body: object): Promise<void> {
    for (;;) {
      const url = urls[sent++ % urls.length] ?? '';
      const answer = await sendHttp(url, {
        path: '/api/v1/events',
        body,
        headers: bearer(key),
        agent,
        timeoutMs: 5_000,
      }).catch(() => undefined);
      if (answer?.status === 202 || answer?.status === 200) return;
      if (answer !== undefined && answer.status !== 503) throw new Error(`${answer.status} ${answer.text}`);
      await pause(20);
    }
  }

  async function client(number: number): Promise<void> {
    const agent = keptConnection();
    for (let n = 0; !stopped; n++) {
      const repeated = random() < REPEATED_SHARE && acknowledged.length > 0;
      const earlier = acknowledged[Math.floor(random() * acknowledged.length)];
      const name = repeated && earlier !== undefined ? earlier : `c${number}-${n}`;
      await untilAcknowledged(agent, { name: 'loss', idempotency_key: name, user_id: `u${number}-${n}` });
      if (!repeated) acknowledged.push(name);
    }
    agent.destroy();
  }

  const running = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  return {
    acknowledged: () => acknowledged.length,
    sent: () => sent,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** For each enricher, the number of partitions whose state is not rebuilt yet. */
function waiting(urls: readonly string[]): Promise<readonly number[]> {
  return Promise.all(
    urls.map(async (url) => {
      const { text } = await sendHttp(url, { path: '/metrics' });
      return Number(/^weir_state_partitions_waiting (\d+)/m.exec(text)?.[1]);
    }),
  );
}

async function expectOneRowPerKey({ client }: Deployment, site: string, load: RepeatingLoad): Promise<string> {
  await client.settled(300_000);
  const [found] = await client.sql(
    `SELECT count() AS keys, countIf(n > 1) AS twice, sum(n) AS stored FROM
       (SELECT idempotency_key, count() AS n FROM events WHERE site_id = {site:String} GROUP BY idempotency_key)`,
    { site },
  );
  const [ended] = await client.sql(
    "SELECT countIf(outcome = 'duplicate') AS duplicates FROM outcomes WHERE site_id = {site:String}",
    { site },
  );
  const { keys, twice, stored } = found as Record<string, unknown>;
  expect({ keys: Number(keys), twice: Number(twice), rows: Number(stored) }).toEqual({
    keys: load.acknowledged(),
    twice: 0,
    rows: load.acknowledged(),
  });
  expect(await client.audit()).toEqual([]);
  expect(await client.number('SELECT count() FROM dead_letters')).toBe(0);
  return `${load.sent()} requests, ${Number(keys)} keys, ${Number(ended?.duplicates)} duplicates found by the enrichers`;
}

describeDistributed('a state store that is lost again and again', FAULTS_ENV, (weir) => {
  const seed = faultSeed();
  const random = seededRandom(seed);

  async function underRepeatingLoad(name: string, times: number, lose: () => Promise<void>): Promise<void> {
    const { client, urls } = weir();
    const site = await client.createSite();
    await client.must(200, 'PATCH', `/sites/${site}`, { limits: NO_LIMITS });
    const { key } = await client.createKey(site);
    const load = startRepeatingLoad(urls, key, random);
    const go = async (): Promise<void> => {
      const before = load.acknowledged();
      await eventually('a load', () => load.acknowledged() > before + KEYS_BETWEEN, STEP_WITHIN_MS);
    };
    const whole = () =>
      eventually(
        'the state to be whole',
        async () => (await waiting(weir().enrichers.map(({ url }) => url))).every((partitions) => partitions === 0),
        STEP_WITHIN_MS,
      );
    try {
      for (let time = 0; time < times; time++) {
        if (random() < WHOLE_SHARE) await whole();
        await go();
        await pause(random() * 1_000);
        await lose();
      }
      await go();
    } finally {
      await load.stop();
    }
    say(`${name}: ${await expectOneRowPerKey(weir(), site, load)}`);
    for (const { url } of weir().enrichers) {
      const { text } = await sendHttp(url, { path: '/metrics' });
      const numbers = text.match(/^weir_state_\w+ \d+/gm) ?? [];
      say(`${name}: an enricher counts ${numbers.join(', ')}`);
    }
  }

  test(`${WIPES} times FLUSHALL: no key is stored twice or lost (seed ${seed})`, async () => {
    const { redis } = weir().services;
    await underRepeatingLoad(`${WIPES} times FLUSHALL`, WIPES, async () => {
      expect(await redisCommand(redis.address, 'FLUSHALL')).toBe('+OK\r\n');
    });
  });

  test(`${RESTORES} times an older copy of Redis: no key is stored twice or lost (seed ${seed})`, async () => {
    const { redis } = weir().services;
    await redis.kill9();
    let putBack = redis.copy();
    await redis.up();
    await underRepeatingLoad(`${RESTORES} times an older copy`, RESTORES, async () => {
      await redis.kill9();
      const next = redis.copy();
      putBack();
      putBack = next;
      await redis.up();
    });
  });
});
