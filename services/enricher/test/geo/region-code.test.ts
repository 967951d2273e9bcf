import { placeOf } from '../../src/geo/mmdb-place.ts';
import { regionCode } from '../../src/geo/region-code.ts';
import { type BundledPlace, bundledPlaces } from './bundled-places.ts';
import spellings from './region-spellings.json';

/** `country` is an ISO 3166-1 alpha-2 code, and `region` an ISO 3166-2 code (docs/tables.md). */
describe('regions whose names differ only in their kind', () => {
  test.each([
    ['MX', 'Mexico City', 'MX-CMX'],
    ['MX', 'Mexico', 'MX-MEX'],
    ['RU', 'Moscow', 'RU-MOW'],
    ['RU', 'Moscow Oblast', 'RU-MOS'],
    ['RU', 'Altai', 'RU-AL'],
    ['RU', 'Altay Kray', 'RU-ALT'],
    ['AR', 'Buenos Aires F.D.', 'AR-C'],
    ['AR', 'Buenos Aires', 'AR-B'],
    ['BY', 'Minsk City', 'BY-HM'],
    ['BY', 'Minsk', 'BY-MI'],
    ['BG', 'Sofia-grad', 'BG-22'],
    ['BG', 'Sofia', 'BG-23'],
    ['UA', 'Kyiv City', 'UA-30'],
    ['UA', 'Kyiv Oblast', 'UA-32'],
    ['UA', 'Kyiv', 'UA-32'],
    ['UZ', 'Tashkent', 'UZ-TK'],
    ['UZ', 'Tashkent Region', 'UZ-TO'],
    ['KZ', 'Almaty', 'KZ-75'],
    ['KZ', 'Almaty Region', 'KZ-19'],
    ['TW', 'Chiayi City', 'TW-CYI'],
    ['TW', 'Chiayi County', 'TW-CYQ'],
    ['HR', 'City of Zagreb', 'HR-21'],
    ['HR', 'Zagreb', 'HR-21'],
    ['HR', 'County of Zagreb', 'HR-01'],
    ['PE', 'Lima Province', 'PE-LMA'],
    ['US', 'Washington', 'US-WA'],
    ['US', 'District of Columbia', 'US-DC'],
  ])('%s %s: %s', (country, name, code) => {
    expect(regionCode(country, name)).toBe(code);
  });
});

describe('countries where the data names regions of the first level', () => {
  test.each([
    ['ES', 'Madrid', 'ES-MD'],
    ['ES', 'Valencia', 'ES-VC'],
    ['ES', 'Murcia', 'ES-MC'],
    ['ES', 'Castille and Leon', 'ES-CL'],
    ['LT', 'Vilnius', 'LT-VL'],
    ['LT', 'Kaunas', 'LT-KU'],
    ['CZ', 'Liberec Region', 'CZ-51'],
    ['IE', 'Connacht', 'IE-C'],
    ['ID', 'West Papua', 'ID-PB'],
  ])('%s %s: %s', (country, name, code) => {
    expect(regionCode(country, name)).toBe(code);
  });
});

describe('spellings', () => {
  test.each([
    ['US', 'California', 'US-CA'],
    ['DE', 'Bavaria', 'DE-BY'],
    ['CN', 'Beijing', 'CN-BJ'],
    ['IT', 'Lombardy', 'IT-25'],
    ['KR', 'Seoul', 'KR-11'],
    ['CZ', 'Prague', 'CZ-10'],
    ['NO', 'Akershus', 'NO-32'],
    ['NO', 'Finnmark', 'NO-56'],
    ['UA', 'Kharkivs’ka Oblast’', 'UA-63'],
    ['UA', 'Ivano-Frankivsk', 'UA-26'],
    ['IT', 'Basilicate', 'IT-77'],
    ['TR', 'Sanliurfa', 'TR-63'],
    ['HR', 'Medimurje', 'HR-20'],
    ['PE', 'Callao', 'PE-CAL'],
    ['IR', 'Tehran', 'IR-23'],
    ['IR', 'Fars', 'IR-07'],
    ['DE', 'State of Berlin', 'DE-BE'],
    ['SE', 'Skane', 'SE-M'],
    ['XX', 'Nowhere', ''],
    ['US', '', ''],
    ['MC', 'Municipality of Monaco', ''],
  ])('%s %s: "%s"', (country, name, code) => {
    expect(regionCode(country, name)).toBe(code);
  });
});

describe('all of the bundled data', () => {
  let places: readonly BundledPlace[];
  beforeAll(() => {
    places = bundledPlaces();
  });

  const share = (which: (place: BundledPlace) => boolean): number => {
    const sum = (list: readonly BundledPlace[]) => list.reduce((total, { addresses }) => total + addresses, 0);
    return sum(places.filter(which)) / sum(places);
  };

  /**
   * The limit allows for places without a code: ISO 3166-2 has no codes for the regions of Hong Kong, Puerto Rico and others, and none for "Central
   * Serbia". Without the addresses of these places, the share is 0.1 %.
   */
  test('at most 1 % of the addresses have a state and no region', () => {
    const empty = ({ country, state, city }: BundledPlace) =>
      state !== '' && placeOf({ country_code: country, state1: state, city }).region === '';
    expect(share(empty)).toBeLessThan(0.01);
  });

  test('names with the same code differ only in their kind, or are listed as spellings of each other', () => {
    const names = new Map<string, Set<string>>();
    for (const { country, state } of places) {
      const code = regionCode(country, state);
      if (code !== '') names.set(code, (names.get(code) ?? new Set()).add(state));
    }
    const listed: Readonly<Record<string, readonly string[]>> = spellings;
    const strangers = [...names]
      .map(([code, states]) => [code, [...states].sort(), listed[code] ?? []] as const)
      .filter(([, states]) => states.length > 1 && !sameButForKind(states))
      .filter(([, states, known]) => !states.every((state) => known.includes(state)));
    expect(strangers).toEqual([]);
    expect(names.size).toBeGreaterThan(2_900);
  });
});

/**
 * Compares names independently of the code under test. It ignores case, punctuation and the words in `kinds`. Names with "city" or
 * "grad" are never equal to names without these words.
 */
function sameButForKind(states: readonly string[]): boolean {
  const city = /\b(?:city|grad)\b/i;
  const kinds =
    /\b(?:city|grad|state|of|the|province|region|district|autonomous|urban|governorate|county|oblast|krai|kray|republic|municipality|prefecture|division|department|territory|emirate|voivodeship|parish)\b/g;
  const bare = (state: string) =>
    state
      .toLowerCase()
      .replace(/['’‘ʼ]/g, '')
      .replace(kinds, '')
      .replace(/[^\p{L}]+/gu, ' ')
      .trim();
  const kindsDiffer = states.some((state) => city.test(state)) && states.some((state) => !city.test(state));
  return new Set(states.map(bare)).size === 1 && !kindsDiffer;
}
