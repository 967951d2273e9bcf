import type { RateLimiter } from '../src/rate-limiter.ts';

/** What every RateLimiter does. */
export function rateLimiterContract(name: string, open: () => Promise<RateLimiter>): void {
  describe(`RateLimiter: ${name}`, () => {
    let limiter: RateLimiter;
    beforeEach(async () => {
      limiter = await open();
    });
    afterEach(() => limiter.close());

    it('allows exactly the limit, and counts down', async () => {
      const taken = [];
      for (let i = 0; i < 4; i++) taken.push(await limiter.take('events', 'a', 3));
      expect(taken.map((limit) => limit.allowed)).toEqual([true, true, true, false]);
      expect(taken.map((limit) => limit.remaining)).toEqual([2, 1, 0, 0]);
      expect(taken.every((limit) => limit.limit === 3)).toBe(true);
    });

    it('says how long to wait, in whole seconds within the window', async () => {
      await limiter.take('identify', 'a', 1);
      const { allowed, resetSeconds } = await limiter.take('identify', 'a', 1);
      expect(allowed).toBe(false);
      expect(Number.isInteger(resetSeconds)).toBe(true);
      expect(resetSeconds).toBeGreaterThanOrEqual(1);
      expect(resetSeconds).toBeLessThanOrEqual(60);
    });

    it('counts each bucket and each key for itself', async () => {
      await limiter.take('events', 'a', 1);
      expect((await limiter.take('identify', 'a', 1)).allowed).toBe(true);
      expect((await limiter.take('events', 'b', 1)).allowed).toBe(true);
      expect((await limiter.take('events', 'a', 1)).allowed).toBe(false);
    });

    it('follows a limit that is changed within the window', async () => {
      await limiter.take('collect', 'a', 1);
      expect((await limiter.take('collect', 'a', 1)).allowed).toBe(false);
      expect((await limiter.take('collect', 'a', 10)).allowed).toBe(true);
    });

    it('of concurrent takes allows no more than the limit', async () => {
      const taken = await Promise.all(Array.from({ length: 50 }, () => limiter.take('events', 'a', 20)));
      expect(taken.filter((limit) => limit.allowed)).toHaveLength(20);
    });
  });
}
