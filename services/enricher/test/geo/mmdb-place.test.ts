import { placeOf } from '../../src/geo/mmdb-place.ts';

const NO_GEO = { country: '', region: '', city: '', timezone: '' };
const berlin = { latitude: 52.5, longitude: 13.4 };

/** `country` is an ISO 3166-1 alpha-2 code, `region` an ISO 3166-2 code, and names are English (docs/tables.md). */
describe("MaxMind's layout", () => {
  test.each([
    [{ country: { iso_code: 'de' } }, { country: 'DE' }],
    [{ country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'ENG' }, { iso_code: 'WBK' }] }, { region: 'GB-ENG' }],
    [{ country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'US-CA' }] }, { region: 'US-CA' }],
    [{ country: { iso_code: 'DE' }, subdivisions: [{ names: { en: 'Bavaria' } }] }, { region: 'DE-BY' }],
    [{ country: { iso_code: 'DE' }, subdivisions: [{ iso_code: 'Bavaria!' }] }, { region: '' }],
    [{ subdivisions: [{ iso_code: 'CA' }] }, { country: '', region: '' }],
    [{ city: { names: { de: 'München', en: 'Munich' } } }, { city: 'Munich' }],
    // DB-IP's own files have this layout, and the names of cities can contain a district.
    [{ country: { iso_code: 'DE' }, city: { names: { en: 'Berlin (Bezirk Mitte)' } } }, { city: 'Berlin' }],
    [
      { country: { iso_code: 'TW' }, subdivisions: [{ names: { en: 'Taiwan' } }], city: { names: { en: 'Taichung' } } },
      { region: 'TW-TXG' },
    ],
    [{ country: { iso_code: 'US' }, city: { names: { en: 'Washington' } } }, { region: '' }],
    [{ location: { ...berlin, time_zone: 'Europe/Vienna' } }, { timezone: 'Europe/Vienna' }],
    [{ location: berlin }, { timezone: 'Europe/Berlin' }],
    [{ registered_country: { iso_code: 'US' } }, { country: '' }],
    [{ country: { iso_code: 'XK' } }, { country: 'XK' }],
    // Codes for Europe, Asia/Pacific, anonymous proxies and "no country", which are not in ISO 3166-1.
    [{ country: { iso_code: 'EU' } }, { country: '' }],
    [{ country: { iso_code: 'AP' } }, { country: '' }],
    [{ country: { iso_code: 'A1' } }, { country: '' }],
    [{ country: { iso_code: 'XX' } }, { country: '' }],
    [{ country: { iso_code: 'UK' } }, { country: '' }],
  ])('%j', (record, expected) => {
    expect(placeOf(record)).toEqual({ ...placeOf(record), ...expected });
  });
});

describe('the flat layout', () => {
  test.each([
    [
      { country_code: 'fr', state1: 'Île-de-France' },
      { country: 'FR', region: 'FR-IDF' },
    ],
    [
      { country_code: 'US', state1: 'California', city: 'Mountain View' },
      { region: 'US-CA', city: 'Mountain View' },
    ],
    [{ country_code: 'TW', state1: 'Taiwan', city: 'Taichung' }, { region: 'TW-TXG' }],
    [{ country_code: 'US', state1: '', city: 'Washington' }, { region: '' }],
    [{ country_code: 'DE', timezone: '', ...berlin }, { timezone: 'Europe/Berlin' }],
    [{ country_code: 'DE', timezone: '+02:00', ...berlin }, { timezone: 'Europe/Berlin' }],
    [{ country_code: 'DE', timezone: 'Europe/Busingen' }, { timezone: 'Europe/Busingen' }],
    [{ country_code: 'ZZ' }, { country: '' }],
    [
      { country_code: 'EU', state1: 'Bavaria' },
      { country: '', region: '' },
    ],
    [{ country_code: '' }, { country: '' }],
  ])('%j', (record, expected) => {
    expect(placeOf(record)).toEqual({ ...placeOf(record), ...expected });
  });
});

test.each([
  [null],
  [7],
  ['DE'],
  [[]],
  [{ country: 'DE' }],
  [{ country: null, subdivisions: {}, city: 1, location: 'x' }],
  [{ country_code: 49, state1: [], city: {}, timezone: 1, latitude: 'x', longitude: Number.NaN }],
  [{ location: { latitude: 0, longitude: 0 } }],
  [{ location: { latitude: 91, longitude: 181 } }],
  [{ location: { latitude: Number.NaN, longitude: 1 } }],
])('a record of another shape says nothing: %j', (record) => {
  expect(placeOf(record)).toEqual(NO_GEO);
});
