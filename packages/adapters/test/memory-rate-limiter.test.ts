import { rateLimiterContract } from '../../ports/contract/rate-limiter.contract.ts';
import { createMemoryRateLimiter } from '../src/memory-rate-limiter.ts';

rateLimiterContract('memory', async () => createMemoryRateLimiter());

it('holds no more than its number of keys, and forgets those of longest ago beyond it', async () => {
  const limiter = createMemoryRateLimiter({ keysMax: 10 });
  await limiter.take('events', 'first', 1);
  expect((await limiter.take('events', 'first', 1)).allowed).toBe(false);
  for (let i = 0; i < 10; i++) await limiter.take('events', `other ${i}`, 1);
  expect((await limiter.take('events', 'first', 1)).allowed).toBe(true);
});

it('counts anew when the window of a key has ended', async () => {
  let now = 0;
  const limiter = createMemoryRateLimiter({ clock: () => now });
  await limiter.take('events', 'a', 1);
  now = 59_999;
  expect(await limiter.take('events', 'a', 1)).toEqual({ allowed: false, limit: 1, remaining: 0, resetSeconds: 1 });
  now = 60_000;
  expect(await limiter.take('events', 'a', 1)).toEqual({ allowed: true, limit: 1, remaining: 0, resetSeconds: 60 });
});

it('goes on counting a key that comes again, however many others come between', async () => {
  const limiter = createMemoryRateLimiter({ keysMax: 10 });
  await limiter.take('events', 'busy', 1);
  for (let i = 0; i < 100; i++) {
    await limiter.take('events', `other ${i}`, 1);
    expect((await limiter.take('events', 'busy', 1)).allowed).toBe(false);
  }
});
