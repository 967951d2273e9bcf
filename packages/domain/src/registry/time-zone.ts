import { Temporal } from 'temporal-polyfill';

export const TIMEZONE_RULE = 'timezone must be an IANA time zone such as Europe/Berlin';

const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;

/**
 * The name of a time zone in the letter case of the IANA data, or undefined if there is no such time zone. `text` can have any letter case,
 * but ClickHouse accepts only that of the IANA data. A name that is an alias of another one is kept: Europe/Kyiv does not become Europe/Kiev.
 * Abbreviations such as IST are refused, because they are no IANA names and mean several zones.
 */
export function timezoneName(text: string): string | undefined {
  if (!NAME.test(text)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The time zone of the reports of a site. UTC if an earlier version of Weir has stored a zone that reports cannot use. */
export function zoneOf({ timezone }: { readonly timezone: string }): string {
  return timezoneName(timezone) ?? 'UTC';
}
