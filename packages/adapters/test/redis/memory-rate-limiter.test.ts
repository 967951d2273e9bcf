import { rateLimiterContract } from '../../../ports/contract/rate-limiter.contract.ts';
import { createMemoryRateLimiter } from '../../src/redis/memory-rate-limiter.ts';

rateLimiterContract('memory', async () => createMemoryRateLimiter());

it('holds a limited number of keys and removes the oldest ones beyond it', async () => {
  const limiter = createMemoryRateLimiter({ keysMax: 10 });
  await limiter.take('events', 'first', 1);
  expect((await limiter.take('events', 'first', 1)).allowed).toBe(false);
  for (let i = 0; i < 10; i++) await limiter.take('events', `other ${i}`, 1);
  expect((await limiter.take('events', 'first', 1)).allowed).toBe(true);
});

it('starts a new count when the window of a key has ended', async () => {
  let now = 0;
  const limiter = createMemoryRateLimiter({ clock: () => now });
  await limiter.take('events', 'a', 1);
  now = 59_999;
  expect(await limiter.take('events', 'a', 1)).toEqual({ allowed: false, limit: 1, remaining: 0, resetSeconds: 1 });
  now = 60_000;
  expect(await limiter.take('events', 'a', 1)).toEqual({ allowed: true, limit: 1, remaining: 0, resetSeconds: 60 });
});

it('allows a refused batch when its window has ended', async () => {
  let now = 0;
  const limiter = createMemoryRateLimiter({ clock: () => now });
  await limiter.take('events', 'a', 10, 6);
  now = 12_500;
  const refused = await limiter.take('events', 'a', 10, 5);
  expect(refused).toEqual({ allowed: false, limit: 10, remaining: 4, resetSeconds: 48 });
  now += refused.resetSeconds * 1000;
  expect(await limiter.take('events', 'a', 10, 5)).toMatchObject({ allowed: true, remaining: 5 });
});

it('keeps the count of an active key while many other keys are counted', async () => {
  const limiter = createMemoryRateLimiter({ keysMax: 10 });
  await limiter.take('events', 'busy', 1);
  for (let i = 0; i < 100; i++) {
    await limiter.take('events', `other ${i}`, 1);
    expect((await limiter.take('events', 'busy', 1)).allowed).toBe(false);
  }
});

test('after the clock was set back, a limit lasts for at most one window', async () => {
  let now = 3_600_000;
  const limiter = createMemoryRateLimiter({ clock: () => now });
  expect((await limiter.take('events', 'key', 1)).allowed).toBe(true);
  expect((await limiter.take('events', 'key', 1)).allowed).toBe(false);
  now = 0;
  expect(await limiter.take('events', 'key', 1)).toMatchObject({ allowed: true, resetSeconds: 60 });
});
