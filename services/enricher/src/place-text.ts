import { BoundedCache } from '@weir/domain/bounded-cache';
import type { GeoLookup } from './geo/geo-lookup.ts';
import { jsonText } from './json-text.ts';

/** A place as the line gives it. */
export interface PlaceText {
  readonly country: string;
  /** Columns `country` to `city`. */
  readonly json: string;
  /** Column `timezone`, for where the page's script says none. */
  readonly timezoneJson: string;
}

export const NOWHERE: PlaceText = { country: '', json: '"","",""', timezoneJson: '""' };

const ADDRESSES_MAX = 50_000;

/** Look-ups with a cache that is dropped when the geo data changes. */
export function createPlaces(geo: GeoLookup): (ip: string) => PlaceText {
  const cache = new BoundedCache<PlaceText>(ADDRESSES_MAX);
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
