import { Temporal } from 'temporal-polyfill';
import type { Checked } from '../http/compile-body.ts';

/** A period in a site's time zone, from `fromMs` (inclusive) to `toMs` (exclusive), in Unix milliseconds. */
export interface Period {
  readonly zone: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export const PERIODS = ['24h', 'today', 'yesterday', '7d', '30d', '90d', '12mo', 'month', 'year', 'all'] as const;
export const COMPARISONS = ['previous_period', 'previous_year'] as const;
export type Comparison = (typeof COMPARISONS)[number];
const PERIOD_DEFAULT = '30d';

/** The range of all timestamps in the API: from 1970-01-01 (inclusive) to 2100-01-01 (exclusive). */
const EARLIEST_MS = 0;
const LATEST_MS = Date.UTC(2100, 0, 1);
const DATE = /^\d{4}(?:-\d{2}-\d{2}|\d{4})$/;
export const TIME_RULE = 'must be a date (2026-03-29) or an ISO 8601 time from 1970 up to 2100';

export interface PeriodQuery {
  readonly period?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Reads the period of a request. `firstMs` resolves with the time of the site's first row, or with undefined if the site has no row. The period
 * `all` begins with the local day of that row.
 */
export async function readPeriod(
  { period, from, to }: PeriodQuery,
  zone: string,
  nowMs: number,
  firstMs: () => Promise<number | undefined>,
): Promise<Checked<Period>> {
  if (period !== undefined && (from ?? to) !== undefined)
    return { problem: 'period must not be sent together with from or to' };
  if (from === undefined && to !== undefined) return { problem: 'from is required when to is sent' };
  if (from !== undefined) return between(from, to, zone, nowMs);
  const name = PERIODS.find((known) => known === (period ?? PERIOD_DEFAULT));
  if (name === undefined) return { problem: `period must be one of ${PERIODS.join(', ')}` };
  if (name === '24h') return { value: { zone, fromMs: nowMs - 24 * 3600_000, toMs: nowMs } };
  const today = localTime(nowMs, zone).toPlainDate();
  if (name === 'yesterday') return { value: days(zone, today.subtract({ days: 1 }), today) };
  const first = name === 'all' ? await firstMs() : undefined;
  return { value: days(zone, firstDay(name, today, zone, first), today.add({ days: 1 })) };
}

function firstDay(
  name: (typeof PERIODS)[number],
  today: Temporal.PlainDate,
  zone: string,
  firstMs: number | undefined,
): Temporal.PlainDate {
  if (name === 'month') return today.with({ day: 1 });
  if (name === 'year') return today.with({ month: 1, day: 1 });
  if (name === '12mo') return today.with({ day: 1 }).subtract({ months: 11 });
  if (name === 'all' && firstMs !== undefined) {
    const first = localTime(firstMs, zone).toPlainDate();
    return Temporal.PlainDate.compare(first, today) < 0 ? first : today;
  }
  // The names `today` and `all` have no digits, so the period is one day. For `all`, this line is reached only if the site has no rows.
  return today.subtract({ days: Math.max(0, (Number.parseInt(name, 10) || 1) - 1) });
}

function days(zone: string, first: Temporal.PlainDate, end: Temporal.PlainDate): Period {
  return { zone, fromMs: startOf(first, zone), toMs: startOf(end, zone) };
}

/** The first moment of a local day. This is not midnight if the clock was put forward at midnight. */
function startOf(date: Temporal.PlainDate, zone: string): number {
  return date.toZonedDateTime(zone).epochMilliseconds;
}

export function localTime(ms: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
}

/**
 * A date means the whole local day, so the day `to` is part of the period. A time means a moment, so `to` is not part of the
 * period.
 */
function between(from: string, to: string | undefined, zone: string, nowMs: number): Checked<Period> {
  const fromMs = momentOf(from, zone, 0);
  if (fromMs === undefined) return { problem: `from ${TIME_RULE}` };
  const today = localTime(nowMs, zone).toPlainDate();
  const toMs = momentOf(to ?? today.toString(), zone, 1);
  if (toMs === undefined) return { problem: `to ${TIME_RULE}` };
  if (toMs <= fromMs) {
    return { problem: to === undefined ? 'to is required when from is after today' : 'to must be later than from' };
  }
  return { value: { zone, fromMs, toMs } };
}

/** Longer texts are refused before they are parsed: `OFFSET` needs a time that grows with the square of the length. */
const MOMENT_CHARS_MAX = 128;
/** Matches an ISO 8601 time that ends with an offset, such as `Z`, `+02:00` or `-05`. `PlainDateTime` would silently ignore the offset. */
const OFFSET = /[T ].*(?:Z|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?)$/i;

/**
 * Returns the time of a text in Unix milliseconds. A local date means its first moment in the zone, or with `daysAfter` 1 its end. Undefined
 * if the text does not follow `TIME_RULE`.
 */
export function momentOf(text: string, zone: string, daysAfter: 0 | 1): number | undefined {
  if (text.length > MOMENT_CHARS_MAX) return undefined;
  try {
    const ms = DATE.test(text)
      ? startOf(Temporal.PlainDate.from(text).add({ days: daysAfter }), zone)
      : text.includes('[')
        ? Temporal.ZonedDateTime.from(text).epochMilliseconds
        : OFFSET.test(text)
          ? Temporal.Instant.from(text).epochMilliseconds
          : Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds;
    // The limits have one day of tolerance: in eastern zones 1970-01-01 begins before 0, and in western zones 2099-12-31 ends
    // after LATEST_MS.
    return ms >= EARLIEST_MS - 86_400_000 && ms <= LATEST_MS + 86_400_000 ? ms : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * The period with which a period is compared. Whole local days are compared with the same number of days directly before, or
 * with the same dates of the year before. Other periods are compared with a period of the same length, directly before or one
 * year before.
 */
export function comparedPeriod({ zone, fromMs, toMs }: Period, comparison: Comparison): Period {
  const [from, to] = [localTime(fromMs, zone), localTime(toMs, zone)];
  const isDays = [from, to].every((moment) => moment.startOfDay().epochMilliseconds === moment.epochMilliseconds);
  const [first, end] = [from.toPlainDate(), to.toPlainDate()];
  if (comparison === 'previous_year') {
    // The year is subtracted from the last day, not from the end of the period. If the last day is 28 February, the end can be
    // 29 February, which the year before may not have.
    const last = end.subtract({ days: 1 });
    if (isDays) return days(zone, first.subtract({ years: 1 }), last.subtract({ years: 1 }).add({ days: 1 }));
    const yearBefore = from.subtract({ years: 1 }).epochMilliseconds;
    return { zone, fromMs: yearBefore, toMs: yearBefore + (toMs - fromMs) };
  }
  if (isDays) return days(zone, first.subtract({ days: first.until(end).days }), first);
  return { zone, fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}
