import type { GeoLookup } from '@weir/enricher/geo/geo-lookup';

/** Geo data whose lookups can be made to fail. The enricher caches locations, so only lookups of new addresses fail. */
export function createFailingPlaces(geo: GeoLookup) {
  let fails = false;
  return {
    geo: {
      get version() {
        return geo.version;
      },
      get generation() {
        return geo.generation;
      },
      lookup(ip: string) {
        if (fails) throw new Error(`no place for ${ip} of ada@example.com`);
        return geo.lookup(ip);
      },
    },
    fail(fail: boolean) {
      fails = fail;
    },
  };
}
