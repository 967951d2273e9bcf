/**
 * Timestamps of server events and of admin requests (docs/api.md, Timestamps): ISO 8601, or Unix milliseconds as a number or a string of
 * digits.
 */
export const TIMESTAMP_RULE =
  'must be an ISO 8601 date or date-time, or Unix milliseconds, from 1970-01-01 up to, not including, 2100-01-01';

export const SECONDS_RULE = 'must be Unix milliseconds; this looks like seconds';

export const END_MS = Date.UTC(2100, 0, 1);
/**
 * Numbers from SECONDS_FROM up to, not including, SECONDS_END are probably times in seconds: as milliseconds they would be times before
 * 1973-03-04.
 */
export const SECONDS_FROM = 1e9;
export const SECONDS_END = 1e11;
const DIGITS = /^\d+$/;
const EXTENDED =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;
/** The basic format of ISO 8601, only for date-times: a date without hyphens is a number of milliseconds. */
const BASIC = /^(\d{4})(\d{2})(\d{2})[Tt](\d{2})(?:(\d{2})(?:(\d{2})(?:[.,](\d+))?)?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;
/** The only times that can follow a leap second: 1 January and 1 July, 00:00 UTC. */
const NEW_HALF_YEAR = /-0[17]-01T00:00:00/;

/** Returns Unix milliseconds; `undefined` if the value is not a timestamp or is out of range. */
export function parseTimestamp(value: string | number): number | undefined {
  if (typeof value === 'number') return inRange(Math.floor(value));
  return inRange(DIGITS.test(value) ? Number(value) : parseIso(value));
}

/** True for a number, or digits, in the range of Unix seconds (docs/api.md, Timestamps). */
export function looksLikeSeconds(value: string | number): boolean {
  if (typeof value === 'string' && !DIGITS.test(value)) return false;
  const number = Number(value);
  return number >= SECONDS_FROM && number < SECONDS_END;
}

/** Whether a value is a whole number of Unix milliseconds in the accepted range. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && inRange(value as number) !== undefined;
}

function inRange(ms: number): number | undefined {
  return ms >= 0 && ms < END_MS ? ms : undefined;
}

/** Returns Unix milliseconds, also those that `inRange` refuses. Returns NaN if the text is not an ISO 8601 date or date-time. */
export function parseIso(text: string): number {
  const match = EXTENDED.exec(text) ?? BASIC.exec(text);
  if (match === null) return Number.NaN;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset] = match;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const endOfDay = h === 24 && m === 0 && s === 0 && Number(fraction) === 0;
  if ((h > 23 && !endOfDay) || m > 59 || s > 60) return Number.NaN;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // Date.UTC turns 30 February into a day in March, so the result is compared with the text.
  if (new Date(date).toISOString().slice(0, 10) !== `${year}-${month}-${day}`) return Number.NaN;
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  const time = date + h * 3_600_000 + m * 60_000 + s * 1000 + ms - offsetMs(offset);
  // POSIX gives a leap second the time of the second after it.
  return s < 60 || (inRange(time) !== undefined && NEW_HALF_YEAR.test(new Date(time).toISOString()))
    ? time
    : Number.NaN;
}

function offsetMs(offset: string | undefined): number {
  if (offset === undefined || offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return Number.NaN;
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
