import tzlookup from '@photostructure/tz-lookup';
import { NO_PLACE, type Place } from './geo-lookup.ts';
import { regionCode } from './region-code.ts';

/** MaxMind's layout (GeoLite2, GeoIP2, DB-IP's own files). */
interface NestedRecord {
  readonly country?: { readonly iso_code?: string };
  readonly subdivisions?: readonly { readonly iso_code?: string; readonly names?: Readonly<Record<string, string>> }[];
  readonly city?: { readonly names?: Readonly<Record<string, string>> };
  readonly location?: { readonly time_zone?: string; readonly latitude?: number; readonly longitude?: number };
}

/** ip-location-db's layout. Its timezones are empty, its regions are names. */
interface FlatRecord {
  readonly country_code?: string;
  readonly state1?: string;
  readonly city?: string;
  readonly timezone?: string;
  readonly latitude?: number;
  readonly longitude?: number;
}

export function placeOf(record: unknown): Place {
  if (typeof record !== 'object' || record === null) return NO_PLACE;
  return 'country_code' in record ? fromFlat(record as FlatRecord) : fromNested(record as NestedRecord);
}

function fromFlat(record: FlatRecord): Place {
  const country = (record.country_code ?? '').toUpperCase();
  return {
    country,
    region: regionCode(country, record.state1 ?? ''),
    city: record.city ?? '',
    timezone: record.timezone || timezoneAt(record.latitude, record.longitude),
  };
}

function fromNested(record: NestedRecord): Place {
  const country = record.country?.iso_code ?? '';
  const subdivision = record.subdivisions?.[0];
  const region = subdivision?.iso_code;
  return {
    country,
    region: region ? `${country}-${region}` : regionCode(country, subdivision?.names?.en ?? ''),
    city: record.city?.names?.en ?? '',
    timezone: record.location?.time_zone ?? timezoneAt(record.location?.latitude, record.location?.longitude),
  };
}

function timezoneAt(latitude: number | undefined, longitude: number | undefined): string {
  if (latitude === undefined || longitude === undefined) return '';
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180 || (latitude === 0 && longitude === 0)) return '';
  return tzlookup(latitude, longitude);
}
