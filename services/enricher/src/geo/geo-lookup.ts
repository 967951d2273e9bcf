/** Where an address is. Empty text: not known. */
export interface Place {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** ISO 3166-2, e.g. `US-CA`. */
  readonly region: string;
  /** Name in English. */
  readonly city: string;
  /** IANA name. */
  readonly timezone: string;
}

export const NO_PLACE: Place = { country: '', region: '', city: '', timezone: '' };

export interface GeoLookup {
  /** Names the data that answers now; changes when the data does. */
  readonly version: string;
  /** Never throws: an address that is none, or that the data doesn't know, is `NO_PLACE`. */
  lookup(ip: string): Place;
}
