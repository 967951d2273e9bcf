import { Temporal } from 'temporal-polyfill';

export const TIMEZONE_RULE = 'timezone must be an IANA time zone such as Europe/Berlin';

const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;

/**
 * The name of a time zone in the letter case of the IANA data, or undefined if there is no such time zone. The letter case of `text` does not matter, but
 * ClickHouse distinguishes it. A name that is a link to another one is kept: Europe/Kyiv does not become Europe/Kiev. Abbreviations such as IST are
 * refused: they are no IANA names and mean several zones.
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

/** The time zone of the reports of a site. It is UTC for a site that an earlier version of Weir gave a zone that reports cannot use. */
export function zoneOf({ timezone }: { readonly timezone: string }): string {
  return timezoneName(timezone) ?? 'UTC';
}
