import { Temporal } from 'temporal-polyfill';

export const TIMEZONE_RULE = 'timezone must be an IANA time zone such as Europe/Berlin';

export function isTimezone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    // `Intl` also accepts abbreviations such as IST, which are no IANA names and mean several zones.
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timezone);
    return !/^[+-]/.test(timezone);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The time zone of the reports of a site. It is UTC for a site that an earlier version of Weir gave a zone that reports cannot use. */
export function zoneOf({ timezone }: { readonly timezone: string }): string {
  return isTimezone(timezone) ? timezone : 'UTC';
}
