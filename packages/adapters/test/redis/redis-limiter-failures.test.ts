import { createLogger } from '@weir/runtime/logger';
import { freePort } from '@weir/testkit/free-port';
import { openRedisRateLimiter } from '../../src/redis/redis-rate-limiter.ts';

test('each call that Redis did not count is reported, and counted in this process', async () => {
  let failures = 0;
  let salt: string | undefined = 'a day';
  const limiter = openRedisRateLimiter({
    // No server listens on this port.
    url: `redis://127.0.0.1:${await freePort()}`,
    clock: Date.now,
    logger: createLogger('silent'),
    salt: () => salt,
    onFailure: () => {
      failures += 1;
    },
  });
  const allowed = async () => (await limiter.take('collect', '203.0.113.7', 2)).allowed;
  expect([await allowed(), await allowed(), await allowed()]).toEqual([true, true, false]);
  expect(failures).toBe(3);
  salt = undefined;
  expect(await allowed()).toBe(false);
  expect(failures).toBe(3);
  await limiter.close();
});
