import { randomBytes } from 'node:crypto';
import { bearerToken, hashApiKey, isSameHash, newApiKey } from '../../src/registry/api-key.ts';

describe('API keys', () => {
  it('are compared by their hashes, and the scheme Bearer can be in any case', () => {
    const key = newApiKey(randomBytes);
    expect(key).toMatch(/^wk_[A-Za-z0-9_-]{43}$/);
    expect(hashApiKey('wk_x')).toMatch(/^[0-9a-f]{64}$/);
    expect(isSameHash(hashApiKey(key), hashApiKey(key))).toBe(true);
    expect(isSameHash(hashApiKey(key), hashApiKey('wk_x'))).toBe(false);
    expect(bearerToken(`bEARER  ${key} `)).toBe(key);
    for (const wrong of [
      undefined,
      key,
      `Basic ${key}`,
      'Bearer',
      'Bearer ',
      'Bearer a b',
      `Bearer ${'x'.repeat(400)}`,
    ]) {
      expect(bearerToken(wrong)).toBeUndefined();
    }
  });
});
