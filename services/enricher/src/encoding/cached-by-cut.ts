import { BoundedCache } from '@weir/domain/bounded-cache';
import type { QueryCut } from '../acquisition/query-cut.ts';

const ENTRIES_MAX = 20_000;
const KEY_CHARS_MAX = 1024;

/**
 * Caches the results of `make` by URL and by the list of query parameters that the site keeps (`QueryCut`). The number of entries and the length of
 * keys are limited.
 */
export function cachedByCut<Value>(
  make: (url: string, cut: QueryCut | undefined) => Value,
): (url: string, cut?: QueryCut) => Value {
  const whole = new BoundedCache<Value>(ENTRIES_MAX);
  const cuts = new BoundedCache<Value>(ENTRIES_MAX);
  return (url, cut) => {
    const cache = cut === undefined ? whole : cuts;
    const key = cut === undefined ? url : `${cut.key}\0${url}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const made = make(url, cut);
    if (key.length <= KEY_CHARS_MAX) cache.set(key, made);
    return made;
  };
}
