import { BoundedCache } from '@weir/domain/bounded-cache';
import type { GeoLookup } from '../geo/geo-lookup.ts';
import { jsonText } from './json-text.ts';

export interface GeoColumns {
  /** The ISO 3166-1 code of the country, not encoded. */
  readonly country: string;
  /** The encoded columns `country` to `city`. */
  readonly placeJson: string;
  /** The encoded columns `country` to `timezone`, for events without a valid time zone from the page's script. */
  readonly json: string;
}

export const NO_GEO: GeoColumns = { country: '', placeJson: '"","",""', json: '"","","",""' };

const ADDRESSES_MAX = 50_000;
const PLACES_MAX = 5_000;

/** Returns a function that looks up the location of a client IP, with a cache. The cache is cleared when the geo data changes. */
export function createGeoColumns(geo: GeoLookup): (ip: string) => GeoColumns {
  const cache = new BoundedCache<GeoColumns>(ADDRESSES_MAX);
  /** The key is `json`. All addresses in one place share one object. The 100,000 values of `cache` then need 8 MB instead of 29 MB. */
  const places = new BoundedCache<GeoColumns>(PLACES_MAX);
  let { generation } = geo;
  return (ip) => {
    if (geo.generation !== generation) {
      cache.clear();
      generation = geo.generation;
    }
    const known = cache.get(ip);
    if (known !== undefined) return known;
    const { country, region, city, timezone } = geo.lookup(ip);
    const placeJson = [country, region, city].map(jsonText).join(',');
    const json = `${placeJson},${jsonText(timezone)}`;
    let place = places.get(json);
    if (place === undefined) {
      place = { country, placeJson, json };
      places.set(json, place);
    }
    cache.set(ip, place);
    return place;
  };
}
