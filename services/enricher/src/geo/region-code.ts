import { BoundedCache } from '@weir/domain/bounded-cache';
import regions from '../../lists/regions.json';
import { kindOf, plainName, withoutKind } from './region-name.ts';

/** For each country, the `name=code` pairs that `lists/write-regions.ts` writes. */
const PACKED: Readonly<Record<string, string>> = regions;

const unpacked = new Map<string, ReadonlyMap<string, string>>();

/** Limits the cache. The bundled data has 4,000 names of regions. */
const NAMES_MAX = 10_000;
const found = new BoundedCache<string>(NAMES_MAX);

/**
 * Returns the ISO 3166-2 code (`DE-BY`) of a region for which the data has only a name (`Bavaria`). Empty if the list of the country
 * does not have the name.
 */
export function regionCode(country: string, name: string): string {
  if (name === '') return '';
  const key = `${country}|${name}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const code = findCode(country, name);
  found.set(key, code);
  return code;
}

function findCode(country: string, name: string): string {
  const codes = codesOf(country);
  const full = plainName(name);
  const bare = withoutKind(full);
  // A key of the list is a full name, or `<kind>:<name>` with a name without words such as "province". The kind is "city" or "area", or
  // empty if the name is unambiguous without it.
  const code = codes.get(full) ?? codes.get(`${kindOf(full)}:${bare}`) ?? codes.get(`:${bare}`) ?? '';
  return code === '' ? '' : `${country}-${code}`;
}

function codesOf(country: string): ReadonlyMap<string, string> {
  const known = unpacked.get(country);
  if (known !== undefined) return known;
  const pairs = (PACKED[country] ?? '').split('|').map((pair) => pair.split('=') as [string, string]);
  const codes = new Map(pairs);
  unpacked.set(country, codes);
  return codes;
}
