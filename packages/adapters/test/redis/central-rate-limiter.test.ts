import { rateLimiterContract } from '../../../ports/contract/rate-limiter.contract.ts';
import { createCentralRateLimiter, type RateLimitTake, takeAll } from '../../src/redis/central-rate-limiter.ts';
import { createMemoryRateLimiter } from '../../src/redis/memory-rate-limiter.ts';

function counted(limiter = createMemoryRateLimiter()) {
  const asked: (readonly RateLimitTake[])[] = [];
  const ask = (takes: readonly RateLimitTake[]) => {
    asked.push(takes);
    return takeAll(limiter, takes);
  };
  return { limiter: createCentralRateLimiter(ask), asked };
}

rateLimiterContract('central', async () => counted().limiter);

it('sends the calls of one turn of the event loop together', async () => {
  const { limiter, asked } = counted();
  const taken = await Promise.all(['a', 'a', 'b'].map((key) => limiter.take('events', key, 1)));
  expect(taken.map(({ allowed }) => allowed)).toEqual([true, false, true]);
  expect(asked).toHaveLength(1);
  await limiter.take('collect', 'c', 5, 2);
  expect(asked[1]).toEqual([['collect', 'c', 5, 2]]);
});

it('counts the calls of several processes together', async () => {
  const memory = createMemoryRateLimiter();
  const processes = [counted(memory), counted(memory), counted(memory)];
  const taken = await Promise.all(
    Array.from({ length: 90 }, (_, n) => processes[n % processes.length]?.limiter.take('events', 'a', 20)),
  );
  expect(taken.filter((limit) => limit?.allowed)).toHaveLength(20);
});
