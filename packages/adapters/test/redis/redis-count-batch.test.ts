import { randomUUID } from 'node:crypto';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import { localProblem } from '@weir/testkit/live-local';
import { type OwnRedis, startOwnRedis } from './own-redis.ts';
import { openConnectedLimiters, openConnectedStore } from './redis-store-fixture.ts';

const problem = localProblem('redis');
const describeLocal = problem === undefined ? describe : describe.skip;

describeLocal(`Redis: commands of a turn of the event loop${problem === undefined ? '' : `: ${problem}`}`, () => {
  let server: OwnRedis;
  let limiters: readonly [RateLimiter, RateLimiter];
  const url = () => `redis://127.0.0.1:${server.port}`;

  /** Resolves with the number of scripts that Redis ran while `work` ran. */
  async function scriptsOf(work: () => Promise<unknown>): Promise<number> {
    await server.call('CONFIG', 'RESETSTAT');
    await work();
    const stats = String(await server.call('INFO', 'commandstats'));
    return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
  }

  beforeAll(async () => {
    server = await startOwnRedis([]);
    limiters = await openConnectedLimiters({ url: url() });
  });
  afterAll(async () => {
    await Promise.all(limiters.map((limiter) => limiter.close()));
    await server.stop();
  });

  test('the requests of all keys of a turn are counted by one command', async () => {
    const [limiter] = limiters;
    const keys = Array.from({ length: 300 }, (_, n) => `key_${n % 30}`);
    const scripts = await scriptsOf(async () => {
      const taken = await Promise.all(keys.map((key) => limiter.take('events', key, 8)));
      for (let n = 0; n < 30; n++) {
        const ofKey = taken.filter((_, i) => i % 30 === n);
        expect(ofKey.map(({ allowed }) => allowed)).toEqual([...Array(8).fill(true), false, false]);
        expect(ofKey.map(({ remaining }) => remaining)).toEqual([7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
      }
    });
    expect(scripts).toBe(1);
  });

  test('two gateways together allow exactly the limit, for requests and batches of events at once', async () => {
    const limit = 500;
    let counted = 0;
    for (let turn = 0; turn < 40; turn++) {
      const calls = Array.from({ length: 20 }, (_, n) => ({ limiter: limiters[n % 2]!, count: n % 5 === 0 ? 7 : 1 }));
      const taken = await Promise.all(
        calls.map(({ limiter, count }) => limiter.take('events', 'shared', limit, count)),
      );
      taken.forEach(({ allowed }, n) => {
        if (allowed) counted += calls[n]!.count;
      });
    }
    expect(counted).toBe(limit);
  });

  test('the keys of all sites of a batch are claimed by one command', async () => {
    const store = await openConnectedStore({ url: url() }, `test-${randomUUID()}:`);
    const keys = Array.from({ length: 50 }, (_, n) => ({ siteId: `site_${n % 10}`, key: `k${n}`, owner: `o${n}` }));
    await store.claimKeys([{ siteId: 'site', key: 'first', owner: 'o' }]);
    expect(await scriptsOf(() => store.claimKeys(keys))).toBe(1);
    expect(new Set(await store.claimKeys(keys.map((one) => ({ ...one, owner: 'another' }))))).toEqual(
      new Set(['pending']),
    );
    await store.close();
  });
});
