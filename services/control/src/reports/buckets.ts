import type { Checked } from '../http/compile-body.ts';
import { localTime, type Period } from './period.ts';

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

export const BUCKETS_MAX = 2_000;
const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;

export function defaultInterval({ fromMs, toMs }: Period): Interval {
  const lengthMs = toMs - fromMs;
  if (lengthMs <= 2 * DAY_MS + HOUR_MS) return 'hour';
  if (lengthMs <= 100 * DAY_MS) return 'day';
  return lengthMs <= 3 * 366 * DAY_MS ? 'week' : 'month';
}

/**
 * Returns the start times of the buckets in Unix milliseconds, in order. The first is the start of the period. Days, weeks (from
 * Monday) and months begin with the local day. An hour begins at each full hour of the local clock, and when the clock changes.
 * So a change of one hour makes a day of 23 or 25 hours, and a change of half an hour makes one hour half as long.
 */
export function bucketStarts(
  period: Period,
  interval: Interval,
  bucketsMax: number = BUCKETS_MAX,
): Checked<readonly number[]> {
  const starts: number[] = [];
  const next = interval === 'hour' ? hourAfter(period) : (ms: number) => dayAfter(ms, period.zone, interval);
  for (let at = period.fromMs; at < period.toMs; at = next(at)) {
    if (starts.length >= bucketsMax) {
      return { problem: `interval must give at most ${bucketsMax} buckets; ${interval} gives more in this period` };
    }
    starts.push(at);
  }
  return { value: starts };
}

function dayAfter(ms: number, zone: string, interval: Exclude<Interval, 'hour'>): number {
  const date = localTime(ms, zone).toPlainDate();
  const later = {
    day: () => date.add({ days: 1 }),
    week: () => date.add({ days: 8 - date.dayOfWeek }),
    month: () => date.with({ day: 1 }).add({ months: 1 }),
  }[interval]();
  return later.toZonedDateTime(zone).epochMilliseconds;
}

function hourAfter({ zone, fromMs }: Period): (ms: number) => number {
  let change = clockChangeAfter(fromMs, zone);
  return (ms) => {
    if (ms >= change) change = clockChangeAfter(ms, zone);
    const localMs = ms + localTime(ms, zone).offsetNanoseconds / 1e6;
    const intoHourMs = ((localMs % HOUR_MS) + HOUR_MS) % HOUR_MS;
    return Math.min(ms + HOUR_MS - intoHourMs, change);
  };
}

function clockChangeAfter(ms: number, zone: string): number {
  return localTime(ms, zone).getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
}

/** Formats a time in ISO 8601, with the offset that the time zone has at this time. */
export function localText(ms: number, zone: string): string {
  return localTime(ms, zone).toString({ timeZoneName: 'never' });
}
