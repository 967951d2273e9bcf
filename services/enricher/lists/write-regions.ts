/**
 * Writes regions.json from the data of the Python package iso3166-2 (MIT) and our own region-names.json:
 *
 *     npx tsx services/enricher/lists/write-regions.ts PATH/iso3166_2/iso3166-2.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { kindOf, plainName, type RegionKind, withoutKind } from '../src/geo/region-name.ts';

interface Entry {
  readonly name: string;
  readonly localOtherName: string | null;
  readonly type: string;
  readonly parentCode: string | null;
}

interface Claim {
  readonly code: string;
  readonly kind: RegionKind;
  readonly full: string;
}

/**
 * In these countries, ISO 3166-2 has two levels of regions. Weir reports only the first level, which geo data usually names. If geo data names a
 * region of the second level, Weir reports the first-level region that contains it: for "Albacete" (a province) Castilla-La Mancha, ES-CM.
 */
const LIFTED = new Set('BD BE BF CZ EE ES FJ FR GB GN IE IS IT LK LT MA MW PH UG'.split(' '));

/**
 * Names that two regions share, usually a city and the region around the city. The code is that of the region which DB-IP's data means by the
 * name. If a comment names places: in the data of June 2026, the addresses in these places have this region.
 */
const AMBIGUOUS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // "Buenos Aires" is the province: La Plata and the suburbs have this region. The capital itself has the region "Buenos Aires F.D.".
  AR: { 'Buenos Aires': 'B', 'Buenos Aires F.D.': 'C' },
  // "Sofia" is the province: Bozhurishte, Samokov and Botevgrad have this region. The capital itself has the region "Sofia-grad".
  BG: { Sofia: '23', 'Sofia-grad': '22', 'Sofia-Capital': '22' },
  // "Minsk" is the region around the capital: Zhdanovichy and Borisov have this region. The capital itself has the region "Minsk City".
  BY: { Minsk: 'MI' },
  // "Zagreb" is the capital. The county around the capital has the name "County of Zagreb".
  HR: { Zagreb: '21' },
  // These names mean provinces. ISO 3166-2 gives the same names to groups of islands.
  ID: { Maluku: 'MA', Papua: 'PA', 'West Papua': 'PB' },
  // "Almaty Oblysy" is Kazakh for "Almaty Region", the region around the city Almaty. Here the name decides and not the places: 93 of 100
  // addresses with this name are in the city.
  KZ: { Almaty: '75', 'Almaty Region': '19', 'Almaty Oblysy': '19' },
  // "Vientiane" is the province: Vang Vieng has this region. The capital itself has the region "Vientiane Prefecture".
  LA: { Vientiane: 'VI', 'Vientiane Prefecture': 'VT' },
  // "Mexico" is the state around Mexico City: Tlalnepantla and Toluca have this region.
  MX: { Mexico: 'MEX', 'Mexico City': 'CMX' },
  // All three names mean the city Lima: "Lima region" has addresses in San Borja, Miraflores and San Isidro, which are districts of
  // Lima.
  PE: { Lima: 'LMA', 'Lima Province': 'LMA', 'Lima region': 'LMA' },
  // "Altai" is the Altai Republic: its capital Gorno-Altaysk has this region. The data calls the region Altai Krai "Altay Kray".
  RU: { Moscow: 'MOW', Altai: 'AL', 'Altai Republic': 'AL' },
  // "Kyiv" is the region around the capital: Hatne, Boryspil and Bila Tserkva have this region. The capital itself has the region "Kyiv City".
  UA: { Kyiv: '32', 'Kyiv City': '30' },
  // "Toshkent" is the region around the capital: Qibray has this region. The capital itself has the region "Tashkent".
  UZ: { Tashkent: 'TK', Toshkent: 'TO' },
};

const CITY_TYPE = /city|capital (?!territory)|capital$|federal (?:district|entity)|town|^special municipality/i;

/** Three lists of names of a region, the most reliable list first: the name in ISO 3166-2, the English names, all other names. */
function namesOf({ name, localOtherName }: Entry): readonly (readonly string[])[] {
  const others = (localOtherName ?? '').split(/(?<=\)), /);
  const english = others.filter((other) => other.endsWith('(eng)'));
  const [head, ...tail] = name.split(', ');
  // "Praha, Hlavní město" also counts as "Praha" and "Hlavní město Praha". "Trentino-Alto Adige, Trentino-Südtirol" also counts as two names.
  const turned =
    tail.length === 0 ? [] : [head ?? '', `${tail.join(' ')} ${head}`, ...tail.filter((part) => /^\p{Lu}/u.test(part))];
  return [[name, ...turned, ...name.split(/ ?\/ ?/)], english, others].map((names) =>
    names
      .filter((text) => /\p{Script=Latin}/u.test(text.replace(/\([^()]*\)$/, '')) && !/^the /i.test(text))
      .map(plainName)
      .filter((text) => withoutKind(text) !== ''),
  );
}

/** The names of the regions of one level, with the codes that they can stand for. The most reliable names come first. */
function claimsOf(
  country: string,
  entries: Readonly<Record<string, Entry>>,
  level: 1 | 2,
): readonly (readonly Claim[])[] {
  const tiers: Claim[][] = [[], [], []];
  for (const [iso, entry] of Object.entries(entries)) {
    if ((entry.parentCode === null ? 1 : 2) !== level) continue;
    const code = (LIFTED.has(country) ? (entry.parentCode ?? iso) : iso).slice(3);
    const kind = CITY_TYPE.test(entry.type) ? 'city' : 'area';
    namesOf(entry).forEach((names, tier) => {
      for (const full of names) tiers[tier]?.push({ code, kind, full });
    });
  }
  return tiers;
}

const SHARED = '?';

function add(known: Map<string, string>, claims: readonly Claim[], keyOf: (claim: Claim) => string): void {
  const found = new Map<string, string>();
  for (const claim of claims) {
    const key = keyOf(claim);
    found.set(key, (found.get(key) ?? claim.code) === claim.code ? claim.code : SHARED);
  }
  for (const [key, code] of found) if (!known.has(key)) known.set(key, code);
}

function codesOf(
  country: string,
  entries: Readonly<Record<string, Entry>>,
  own: Readonly<Record<string, string>>,
): string {
  const known = new Map<string, string>();
  for (const [name, code] of Object.entries(own)) {
    const full = plainName(name);
    known.set(full, code);
    if (kindOf(full) === undefined && !(name in (AMBIGUOUS[country] ?? {}))) known.set(`:${withoutKind(full)}`, code);
  }
  for (const level of [1, 2] as const) {
    const tiers = claimsOf(country, entries, level);
    const taken = new Map<string, Set<string>>();
    for (const { full, code } of tiers.flat()) {
      const bare = withoutKind(full);
      taken.set(bare, (taken.get(bare) ?? new Set()).add(code));
    }
    for (const claims of tiers) {
      add(known, claims, ({ full }) => full);
      // Only an area gets a key without a kind. If the city Almaty had the key `:almaty`, "Almaty Region" would find the city whenever ISO 3166-2
      // has no such region.
      const alone = ({ full, kind }: Claim) => kind === 'area' && taken.get(withoutKind(full))?.size === 1;
      add(known, claims.filter(alone), ({ full }) => `:${withoutKind(full)}`);
      add(
        known,
        claims.filter((claim) => !alone(claim)),
        ({ full, kind }) => `${kind}:${withoutKind(full)}`,
      );
    }
  }
  for (const [key, code] of known) {
    const same =
      !key.includes(':') &&
      known.get(`:${withoutKind(key)}`) === code &&
      !known.has(`${kindOf(key)}:${withoutKind(key)}`);
    if (same || code === SHARED) known.delete(key);
  }
  return [...known]
    .map(([key, code]) => `${key}=${code}`)
    .sort()
    .join('|');
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('which iso3166-2.json?');
const read = (file: string | URL) => JSON.parse(readFileSync(file, 'utf8'));
const iso: Readonly<Record<string, Readonly<Record<string, Entry>>>> = read(path);
const own: Readonly<Record<string, Readonly<Record<string, string>>>> = read(
  new URL('region-names.json', import.meta.url),
);
const written = Object.entries(iso).map(
  ([country, entries]) => [country, codesOf(country, entries, { ...own[country], ...AMBIGUOUS[country] })] as const,
);
const lists = Object.fromEntries(written.filter(([, codes]) => codes !== ''));
writeFileSync(new URL('regions.json', import.meta.url), `${JSON.stringify(lists, null, 2)}\n`);
