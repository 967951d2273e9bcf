import { randomUUID } from 'node:crypto';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Redis } from 'ioredis';
import { openRedisRateLimiter } from '../../src/redis/redis-rate-limiter.ts';

const ADDRESSES = ['203.0.113.77', 'site_a/203.0.113.77', '2001:db8:dead:beef::/64'];

describeLive('redis', (url) => {
  test.each(['collect', 'sign_in'] as const)(
    '%s: Redis stores client IPs as hashes with the salt of the day; without a salt it stores nothing',
    async (bucket) => {
      let salt: string | undefined = 'a day';
      const keyPrefix = `test-${randomUUID()}:`;
      const limiter = openRedisRateLimiter({
        url: url(),
        keyPrefix,
        commandTimeoutMs: 10_000,
        clock: Date.now,
        logger: createLogger('silent'),
        salt: () => salt,
      });
      const client = new Redis(url());
      const stored = async (name: string) => (await client.keys(`${keyPrefix}limit:${name}:*`)).toSorted();
      const takeAll = async (limit: number) => {
        const taken = [];
        for (const address of ADDRESSES) taken.push((await limiter.take(bucket, address, limit)).allowed);
        return taken;
      };
      await eventually('the limiter counts in Redis', async () => {
        await limiter.take('events', 'key_1', 1_000);
        return (await stored('events')).length === 1;
      });

      expect(await takeAll(2)).toEqual([true, true, true]);
      expect(await takeAll(2)).toEqual([true, true, true]);
      const ofToday = await stored(bucket);
      expect(ofToday).toHaveLength(ADDRESSES.length);
      const hash = new RegExp(`^${keyPrefix}limit:${bucket}:[\\w-]{22}$`);
      for (const key of ofToday) expect(key).toMatch(hash);
      expect(await takeAll(2)).toEqual([false, false, false]);

      salt = 'the next day';
      expect(await takeAll(3)).toEqual([true, true, true]);
      const ofBoth = await stored(bucket);
      expect(new Set(ofBoth).size).toBe(2 * ADDRESSES.length);
      for (const key of ofBoth) expect(key).toMatch(hash);

      salt = undefined;
      const unsalted = ADDRESSES.map((address) => `${address}/without-salt`);
      for (const address of unsalted) {
        // Without a salt, the address is counted only in this process.
        expect((await limiter.take(bucket, address, 1)).allowed).toBe(true);
        expect((await limiter.take(bucket, address, 1)).allowed).toBe(false);
      }
      expect(await stored(bucket)).toEqual(ofBoth);
      // The keys of the bucket `events` are not client IPs, so they are not hashed.
      expect(await stored('events')).toEqual([`${keyPrefix}limit:events:key_1`]);
      await limiter.close();
      client.disconnect();
    },
  );
});
