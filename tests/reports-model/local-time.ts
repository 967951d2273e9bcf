// Computes local time with the calendar of `Intl`. The reports use another implementation (Temporal), so a comparison finds mistakes. All time
// zones of the tests change their offset at a full quarter of an hour (UTC). Therefore one lookup of the offset per quarter is enough.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const QUARTER_MS = 15 * MINUTE_MS;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly offsets: Map<number, number>;
}
const zones = new Map<string, Zone>();

function offsetMs(ms: number, name: string): number {
  let zone = zones.get(name);
  if (zone === undefined) {
    const part = 'numeric';
    const format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: name, hourCycle: 'h23', era: undefined },
      ...{ year: part, month: part, day: part, hour: part, minute: part, second: part },
    } as Intl.DateTimeFormatOptions);
    zone = { format, offsets: new Map() };
    zones.set(name, zone);
  }
  const quarter = Math.floor(ms / QUARTER_MS);
  const known = zone.offsets.get(quarter);
  if (known !== undefined) return known;
  const parts = zone.format.formatToParts(quarter * QUARTER_MS);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  const offset = local - quarter * QUARTER_MS;
  zone.offsets.set(quarter, offset);
  return offset;
}

/** `YYYY-MM-DD` of the local clock. */
export function localDate(ms: number, zone: string): string {
  return dateText(ms + offsetMs(ms, zone));
}

/** The first moment of a local day. It is not midnight if the clock skips midnight. */
export function dayStart(date: string, zone: string): number {
  for (let at = Date.parse(date) - 15 * HOUR_MS; ; at += QUARTER_MS) {
    if (localDate(at, zone) >= date) return at;
  }
}

export function daysLater(date: string, days: number): string {
  return dateText(Date.parse(date) + days * DAY_MS);
}

/** The same day of another month or year. The callers use days that each month has, or years without 29 February. */
export function monthsLater(date: string, months: number): string {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  return dateText(Date.UTC(year, month - 1 + months, day));
}

export type Interval = 'hour' | 'day' | 'week' | 'month';

/** A text that is the same for all times of a bucket, and differs for the next bucket. */
function label(ms: number, zone: string, interval: Interval): string {
  const offset = offsetMs(ms, zone);
  const local = new Date(ms + offset).toISOString();
  const date = local.slice(0, 10);
  if (interval === 'hour') return `${local.slice(0, 13)} ${offset}`;
  if (interval === 'day') return date;
  if (interval === 'month') return date.slice(0, 7);
  const daysSinceMonday = (new Date(Date.parse(date)).getUTCDay() + 6) % 7;
  return daysLater(date, -daysSinceMonday);
}

/** The start times of the buckets: the start of the period, and each quarter of an hour at which the label changes. */
export function bucketsOf(fromMs: number, toMs: number, zone: string, interval: Interval): readonly number[] {
  const starts = [fromMs];
  let current = label(fromMs, zone, interval);
  for (let at = (Math.floor(fromMs / QUARTER_MS) + 1) * QUARTER_MS; at < toMs; at += QUARTER_MS) {
    const next = label(at, zone, interval);
    if (next !== current) starts.push(at);
    current = next;
  }
  return starts;
}

function dateText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
