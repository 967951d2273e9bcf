import { BoundedCache } from '../src/bounded-cache.ts';

test('keeps the values that were used last', () => {
  const cache = new BoundedCache<string>(2);
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, key.toUpperCase());
  expect(cache.get('a')).toBe('A');
  cache.set('e', 'E');
  expect([cache.get('b'), cache.get('a'), cache.get('e')]).toEqual([undefined, 'A', 'E']);
  cache.clear();
  expect([cache.get('a'), cache.get('e')]).toEqual([undefined, undefined]);
});

test('a key that is set again counts once', () => {
  const cache = new BoundedCache<number>(2);
  cache.set('kept', 0);
  const long = 'x'.repeat(200);
  for (let value = 0; value < 10; value++) cache.set(long, value);
  expect([cache.get('kept'), cache.get(long)]).toEqual([0, 9]);
});

test('keeps fewer values if their keys are long', () => {
  const long = (digit: number) => String(digit).repeat(1_280);
  const cache = new BoundedCache<number>(100);
  const keys = Array.from({ length: 10 }, (_, digit) => long(digit));
  for (const [value, key] of keys.entries()) cache.set(key, value);
  expect(keys.map((key) => cache.get(key))).toEqual([...keys.keys()]);
  const short = Array.from({ length: 200 }, (_, nth) => `short ${nth}`);
  for (const [value, key] of short.entries()) cache.set(key, value);
  expect(keys.map((key) => cache.get(key))).toEqual(keys.map(() => undefined));
});
