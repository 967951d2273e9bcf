import regions from '../../lists/regions.json';

/** Per country: `name=code` pairs. Names are ISO 3166-2's and, in English, the Unicode CLDR's, as `plain` spells them. */
const PACKED: Readonly<Record<string, string>> = regions;

/** Words that one list gives and another leaves out. */
const KINDS =
  /\b(?:province|region|state|district|governorate|county|oblast|krai|kray|republic|municipality|prefecture|division|department|city|capital|metropolitan|autonomous|territory|emirate|voivodeship|canton|special|administrative|of|the|and|grad|d c|f d)\b/g;

const unpacked = new Map<string, ReadonlyMap<string, string>>();

/** The ISO 3166-2 code (`DE-BY`) of a region that the data only names (`Bavaria`); empty where no list knows the name. */
export function regionCode(country: string, name: string): string {
  if (name === '') return '';
  const codes = codesOf(country);
  const full = plain(name);
  const code = codes.get(full) ?? codes.get(withoutKind(full));
  return code === undefined ? '' : `${country}-${code}`;
}

function codesOf(country: string): ReadonlyMap<string, string> {
  const known = unpacked.get(country);
  if (known !== undefined) return known;
  const pairs = (PACKED[country] ?? '').split('|').map((pair) => pair.split('=') as [string, string]);
  const codes = new Map(pairs);
  unpacked.set(country, codes);
  return codes;
}

/** Lower case, without marks and punctuation. */
export function plain(name: string): string {
  const letters = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return letters
    .replace(/\(.*?\)/g, ' ')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

export function withoutKind(plainName: string): string {
  return plainName.replace(KINDS, ' ').replace(/\s+/g, ' ').trim();
}
