import type { Step } from '../hit.ts';
import { NOWHERE, type PlaceText } from '../place-text.ts';

export function createPutGeo(placeOf: (ip: string) => PlaceText): Step {
  return (hit) => {
    hit.place = hit.ip === '' ? NOWHERE : placeOf(hit.ip);
    return undefined;
  };
}
