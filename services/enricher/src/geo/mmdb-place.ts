import tzlookup from '@photostructure/tz-lookup';
import { COUNTRY_CODES } from '@weir/domain/country-codes';
import { textOf } from '@weir/domain/ingest/context';
import { cityName } from './city-name.ts';
import { NO_PLACE, type Place } from './geo-lookup.ts';
import { regionCode } from './region-code.ts';

/** The layout of MaxMind's files (GeoLite2, GeoIP2) and of DB-IP's own files. */
interface NestedRecord {
  readonly country?: { readonly iso_code?: unknown };
  readonly subdivisions?: readonly { readonly iso_code?: unknown; readonly names?: { readonly en?: unknown } }[];
  readonly city?: { readonly names?: { readonly en?: unknown } };
  readonly location?: { readonly time_zone?: unknown; readonly latitude?: unknown; readonly longitude?: unknown };
}

/** The layout of ip-location-db's files. Their time zones are empty, and their regions are names instead of codes. */
interface FlatRecord {
  readonly country_code?: unknown;
  readonly state1?: unknown;
  readonly city?: unknown;
  readonly timezone?: unknown;
  readonly latitude?: unknown;
  readonly longitude?: unknown;
}

/**
 * The location in a record of either layout. Fields of a wrong type are ignored, because operators can use files from any
 * source.
 */
export function placeOf(record: unknown): Place {
  if (typeof record !== 'object' || record === null) return NO_PLACE;
  return 'country_code' in record ? fromFlat(record as FlatRecord) : fromNested(record as NestedRecord);
}

function fromFlat(record: FlatRecord): Place {
  const country = countryCode(record.country_code);
  const city = cityName(country, textOf(record.city));
  return {
    country,
    region: regionOf(country, textOf(record.state1), city),
    city,
    timezone: zoneName(record.timezone) || timezoneAt(record.latitude, record.longitude),
  };
}

/**
 * Returns the ISO 3166-2 code of a region. Some records name a region that ISO 3166-2 does not have ("Taiwan", "Central Serbia"). The result is
 * then the code of the region with the name of the city, if ISO 3166-2 has such a region.
 */
function regionOf(country: string, name: string, city: string): string {
  return name === '' ? '' : regionCode(country, name) || regionCode(country, city);
}

function fromNested({ country: of, subdivisions, city, location }: NestedRecord): Place {
  const country = countryCode(of?.iso_code);
  const subdivision = Array.isArray(subdivisions) ? (subdivisions as NonNullable<typeof subdivisions>)[0] : undefined;
  const code = textOf(subdivision?.iso_code);
  const cityFound = cityName(country, textOf(city?.names?.en));
  return {
    country,
    region: subdivisionCode(country, code) || regionOf(country, textOf(subdivision?.names?.en), cityFound),
    city: cityFound,
    timezone: zoneName(location?.time_zone) || timezoneAt(location?.latitude, location?.longitude),
  };
}

/**
 * The ISO 3166-1 alpha-2 code. Some files use other codes for "no country" (`ZZ`, `XX`), for regions (`EU`, `AP`) or for anonymous proxies (`A1`).
 */
function countryCode(value: unknown): string {
  const code = textOf(value).toUpperCase();
  return COUNTRY_CODES.has(code) ? code : '';
}

/** Returns the complete ISO 3166-2 code. Most files have only the part after the country, and some files have the complete code. */
function subdivisionCode(country: string, code: string): string {
  const part = code.startsWith(`${country}-`) ? code.slice(country.length + 1) : code;
  return country !== '' && /^[A-Z0-9]{1,3}$/.test(part) ? `${country}-${part}` : '';
}

/** The name of a time zone. Offsets such as `+02:00` are ignored. */
function zoneName(value: unknown): string {
  const name = textOf(value);
  return /^[A-Za-z]/.test(name) ? name : '';
}

function timezoneAt(latitude: unknown, longitude: unknown): string {
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return '';
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) || (latitude === 0 && longitude === 0)) return '';
  return tzlookup(latitude, longitude);
}
