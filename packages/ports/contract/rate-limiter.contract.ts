import type { RateLimiter } from '../src/rate-limiter.ts';

/** The tests that every implementation of the rate limiter passes. */
export function rateLimiterContract(name: string, open: () => Promise<RateLimiter>): void {
  describe(`RateLimiter: ${name}`, () => {
    let limiter: RateLimiter;
    beforeEach(async () => {
      limiter = await open();
    });
    afterEach(() => limiter.close());

    it('allows exactly the limit and returns what remains', async () => {
      const taken = [];
      for (let i = 0; i < 4; i++) taken.push(await limiter.take('events', 'a', 3));
      expect(taken.map((limit) => limit.allowed)).toEqual([true, true, true, false]);
      expect(taken.map((limit) => limit.remaining)).toEqual([2, 1, 0, 0]);
      expect(taken.every((limit) => limit.limit === 3)).toBe(true);
    });

    it('returns whole seconds until the window ends', async () => {
      await limiter.take('identify', 'a', 1);
      const { allowed, resetSeconds } = await limiter.take('identify', 'a', 1);
      expect(allowed).toBe(false);
      expect(Number.isInteger(resetSeconds)).toBe(true);
      expect(resetSeconds).toBeGreaterThanOrEqual(1);
      expect(resetSeconds).toBeLessThanOrEqual(60);
    });

    it('counts several requests together, or none of them', async () => {
      const first = await limiter.take('events', 'a', 5, 3);
      expect(first).toMatchObject({ allowed: true, limit: 5, remaining: 2 });
      const refused = await limiter.take('events', 'a', 5, 3);
      expect(refused).toMatchObject({ allowed: false, limit: 5, remaining: 2 });
      expect(refused.resetSeconds).toBeGreaterThanOrEqual(1);
      expect(refused.resetSeconds).toBeLessThanOrEqual(first.resetSeconds);
      expect(await limiter.take('events', 'a', 5, 2)).toMatchObject({ allowed: true, remaining: 0 });
      expect(await limiter.take('events', 'a', 5, 1)).toMatchObject({ allowed: false, remaining: 0 });
      expect(await limiter.take('events', 'a', 5, 2)).toMatchObject({ allowed: false, remaining: 0 });
      // A higher limit shows that the refused requests were not counted.
      expect(await limiter.take('events', 'a', 8, 3)).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('does not count a call that exceeds the limit', async () => {
      expect(await limiter.take('events', 'a', 2, 3)).toMatchObject({ allowed: false, remaining: 2 });
      expect(await limiter.take('events', 'a', 2, 2)).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('allows as many concurrent batches as fit', async () => {
      const taken = await Promise.all(Array.from({ length: 20 }, () => limiter.take('events', 'a', 20, 3)));
      expect(taken.filter((limit) => limit.allowed)).toHaveLength(6);
      expect((await limiter.take('events', 'a', 20, 2)).allowed).toBe(true);
    });

    it('counts each bucket and each key separately', async () => {
      await limiter.take('events', 'a', 1);
      expect((await limiter.take('identify', 'a', 1)).allowed).toBe(true);
      expect((await limiter.take('events', 'b', 1)).allowed).toBe(true);
      expect((await limiter.take('events', 'a', 1)).allowed).toBe(false);
    });

    it('applies a limit that changes within the window', async () => {
      await limiter.take('collect', 'a', 1);
      expect((await limiter.take('collect', 'a', 1)).allowed).toBe(false);
      expect((await limiter.take('collect', 'a', 10)).allowed).toBe(true);
    });

    it('allows no more than the limit for concurrent calls', async () => {
      const taken = await Promise.all(Array.from({ length: 50 }, () => limiter.take('events', 'a', 20)));
      expect(taken.filter((limit) => limit.allowed)).toHaveLength(20);
    });
  });
}
