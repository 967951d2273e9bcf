import { BoundedCache } from '@weir/domain/bounded-cache';
import type { GeoLookup } from '../geo/geo-lookup.ts';
import { jsonText } from './json-text.ts';

/** The encoded columns of a location. */
export interface GeoColumns {
  readonly country: string;
  /** The encoded columns `country` to `city`. */
  readonly json: string;
  /** The encoded column `timezone`, for events whose script did not send a time zone. */
  readonly timezoneJson: string;
}

export const NO_GEO: GeoColumns = { country: '', json: '"","",""', timezoneJson: '""' };

const ADDRESSES_MAX = 50_000;

/** Looks up client IPs. The cache is cleared when the geo data changes. */
export function createGeoColumns(geo: GeoLookup): (ip: string) => GeoColumns {
  const cache = new BoundedCache<GeoColumns>(ADDRESSES_MAX);
  let version = geo.version;
  return (ip) => {
    if (geo.version !== version) {
      cache.clear();
      version = geo.version;
    }
    const known = cache.get(ip);
    if (known !== undefined) return known;
    const { country, region, city, timezone } = geo.lookup(ip);
    const place = {
      country,
      json: [country, region, city].map(jsonText).join(','),
      timezoneJson: jsonText(timezone),
    };
    cache.set(ip, place);
    return place;
  };
}
