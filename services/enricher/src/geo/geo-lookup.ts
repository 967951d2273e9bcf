/** The location of an address. A field is empty if this part of the location is unknown. */
export interface Place {
  /** ISO 3166-1 alpha-2 code. */
  readonly country: string;
  /** ISO 3166-2 code, for example `US-CA`. */
  readonly region: string;
  /** English name. */
  readonly city: string;
  /** IANA name of the time zone. */
  readonly timezone: string;
}

export const NO_PLACE: Place = { country: '', region: '', city: '', timezone: '' };

export interface GeoLookup {
  /** The type and the build date of the data in use. Two builds of one day have the same version. */
  readonly version: string;
  /** A number that changes when the data changes. */
  readonly generation: number;
  /**
   * Returns the location of an address. Never throws. Returns `NO_PLACE` if the text is not an address, or if the data does not have the
   * address.
   */
  lookup(ip: string): Place;
}
