import { brokenPropertiesRule } from '../../src/ingest/properties.ts';

const LIMITS = { 'x-json-bytes-max': 32_768, 'x-depth-max': 5, 'x-keys-max': 200 };
const levels = (count: number): Record<string, unknown> => (count === 1 ? { a: 1 } : { a: levels(count - 1) });
const rule = (value: unknown) => brokenPropertiesRule(value as never, LIMITS);
const ofBytes = (bytes: number) => ({ k: 'x'.repeat(bytes - 8) });

describe('"at most 32 KiB as JSON, at most 5 levels deep, at most 200 keys in all"', () => {
  it('the limit of 5 levels includes the object itself, and arrays count as levels', () => {
    expect(rule(levels(5))).toBeUndefined();
    expect(rule(levels(6))).toBe('must be at most 5 levels deep');
    expect(rule({ a: [[[[1]]]] })).toBeUndefined();
    expect(rule({ a: [[[[[]]]]] })).toBe('must be at most 5 levels deep');
  });

  it('the limit of 200 keys includes nested keys and keys in arrays', () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));
    expect(rule(keys(200))).toBeUndefined();
    expect(rule(keys(201))).toBe('must have at most 200 keys in all');
    expect(rule({ a: [keys(100)], b: keys(98) })).toBeUndefined();
    expect(rule({ a: [keys(100)], b: keys(99) })).toBe('must have at most 200 keys in all');
  });

  it('the limit of 32 KiB is in bytes of UTF-8', () => {
    expect(rule(ofBytes(32_768))).toBeUndefined();
    expect(rule(ofBytes(32_769))).toBe('must be at most 32 KiB as JSON');
    expect(rule({ k: 'ä'.repeat(16_380) })).toBeUndefined();
    expect(rule({ k: 'ä'.repeat(16_381) })).toBe('must be at most 32 KiB as JSON');
  });
});
