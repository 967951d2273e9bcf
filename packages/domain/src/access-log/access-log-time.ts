import { parseIso } from '../ingest/timestamp.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const CLF_TIME = /^(\d{1,2})\/([A-Za-z]{3})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))? ([+-])(\d{2})(\d{2})$/;

/** Reads a time such as `17/May/2015:10:05:03 +0000`. Returns Unix milliseconds; NaN if the text has another form. */
export function readClfTime(text: string): number {
  const match = CLF_TIME.exec(text);
  if (match === null) return Number.NaN;
  const [, day, monthName, year, hour, minute, second, fraction = '', sign, zoneHours, zoneMinutes] = match;
  const month = MONTHS.indexOf(monthName!.toLowerCase());
  if (month < 0 || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return Number.NaN;
  const millis = Number(fraction.padEnd(3, '0').slice(0, 3));
  const local = Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second), millis);
  if (new Date(local).getUTCDate() !== Number(day) && Number(second) !== 60) return Number.NaN;
  const offsetMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  return sign === '-' ? local + offsetMs : local - offsetMs;
}

/**
 * The time of a line in a JSON log, as Unix milliseconds. Reads the time of the Common Log Format, ISO 8601 (UTC if it has no
 * offset) with `T` or a space before the time, and Unix seconds or milliseconds as a number or as digits. NaN for anything else.
 */
export function readLogTime(value: unknown): number {
  if (typeof value === 'number') return unixMs(value);
  if (typeof value !== 'string') return Number.NaN;
  const text = value.trim();
  if (/^\d{1,16}(\.\d{1,9})?$/.test(text)) return unixMs(Number(text));
  if (!/^\d{4}-/.test(text)) return readClfTime(text);
  return parseIso(text.replace(/^(\S{10}) /, '$1T').replace(/ (?=[Z+-])/i, ''));
}

/** Numbers below 100,000,000,000 are seconds (times up to the year 5138), larger ones are milliseconds (times from 1973 on). */
function unixMs(value: number): number {
  return Math.round(value < 100_000_000_000 ? value * 1000 : value);
}
