import { type GeoColumns, NO_GEO } from '../encoding/geo-columns.ts';
import type { Step } from '../pipeline/step.ts';

export function createPutGeo(placeOf: (ip: string) => GeoColumns): Step {
  return {
    name: 'put-geo',
    apply(event) {
      event.geo = event.ip === '' ? NO_GEO : placeOf(event.ip);
      return undefined;
    },
  };
}
