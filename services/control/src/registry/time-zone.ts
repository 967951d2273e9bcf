export const TIMEZONE_RULE = 'timezone must be an IANA time zone such as Europe/Berlin';

export function isTimezone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return !/^[+-]/.test(timezone);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
