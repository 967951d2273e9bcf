import { rateLimiterContract } from '../../ports/contract/rate-limiter.contract.ts';
import { createMemoryRateLimiter } from '../src/flexible-rate-limiter.ts';

rateLimiterContract('memory', async () => createMemoryRateLimiter());

it('holds no more than its number of keys, and starts anew beyond it', async () => {
  const limiter = createMemoryRateLimiter({ keysMax: 10 });
  await limiter.take('events', 'first', 1);
  expect((await limiter.take('events', 'first', 1)).allowed).toBe(false);
  for (let i = 0; i < 10; i++) await limiter.take('events', `other ${i}`, 1);
  expect((await limiter.take('events', 'first', 1)).allowed).toBe(true);
});
