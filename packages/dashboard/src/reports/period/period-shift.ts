/** The first and the last day of a period, as YYYY-MM-DD. Both belong to the period. */
export interface Dates {
  readonly from: string;
  readonly to: string;
}
const NAMED = ['today', 'yesterday', '7d', '30d', '90d', 'month', 'year', '12mo'] as const;
type Period = (typeof NAMED)[number] | '24h' | 'all';
type AskedPeriod = Partial<Dates> & { readonly period?: Period };

const MONTHS: Partial<Readonly<Record<Period, number>>> = { month: 1, year: 12, '12mo': 12 };
const DAY_MS = 86_400_000;
const FIRST_DAY = '1970-01-01';

/**
 * Returns the period of the same length directly before (`direction` -1) or after (1) the period `asked`. For calendar months and years, returns the
 * neighbouring calendar months or years. `today` is the date in the time zone of the report. A result that would end in the future ends today:
 * a period of days then keeps its length, and a period of months becomes shorter. Undefined if `asked` has no limits, or if the result would
 * begin in the future or before 1970.
 */
export function shiftedPeriod(asked: AskedPeriod, today: string, direction: -1 | 1): AskedPeriod | undefined {
  const dates = datesOf(asked, today);
  if (dates === undefined) return undefined;
  const months = asked.period === undefined ? wholeMonths(dates) : MONTHS[asked.period];
  const shifted = months === undefined ? byDays(dates, today, direction) : byMonths(dates, months, direction);
  if (shifted.from > today || shifted.from < FIRST_DAY) return undefined;
  const found = { from: shifted.from, to: shifted.to > today ? today : shifted.to };
  if (found.from === dates.from && found.to === dates.to) return undefined;
  const name = NAMED.find((period) => isEqual(datesOf({ period }, today), found));
  return name === undefined ? found : { period: name };
}

/** The first and the last day that a period touches. If these are not known, as for `all`, the first day is empty and the last one is today. */
export function touchedDays(asked: AskedPeriod, today: string): Dates {
  const { from, to } = datesOf(asked, today) ?? { from: '', to: today };
  return { from: asked.period === '24h' ? plusDays(from, -1) : from, to };
}

function datesOf({ period, from, to }: AskedPeriod, today: string): Dates | undefined {
  if (from !== undefined && to !== undefined) return { from, to };
  if (period === undefined || period === 'all') return undefined;
  if (period === 'today' || period === '24h') return { from: today, to: today };
  if (period === 'yesterday') return { from: plusDays(today, -1), to: plusDays(today, -1) };
  if (period === 'year') return { from: `${today.slice(0, 4)}-01-01`, to: today };
  const months = MONTHS[period];
  if (months !== undefined) return { from: plusMonths(today, 1 - months), to: today };
  return { from: plusDays(today, 1 - Number.parseInt(period, 10)), to: today };
}

function byDays({ from, to }: Dates, today: string, direction: -1 | 1): Dates {
  const length = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const end = plusDays(to, direction * length);
  const last = end > today && to < today ? today : end;
  return { from: plusDays(last, 1 - length), to: last };
}

function byMonths({ from }: Dates, months: number, direction: -1 | 1): Dates {
  const first = plusMonths(from, direction * months);
  return { from: first, to: plusDays(plusMonths(first, months), -1) };
}

/** The number of calendar months from `from` to `to`; undefined if these dates are not whole months. */
function wholeMonths({ from, to }: Dates): number | undefined {
  if (!from.endsWith('-01') || !plusDays(to, 1).endsWith('-01')) return undefined;
  const [[fromYear = 0, fromMonth = 0], [toYear = 0, toMonth = 0]] = [partsOf(from), partsOf(to)];
  return (toYear - fromYear) * 12 + toMonth - fromMonth + 1;
}

const partsOf = (date: string): readonly number[] => date.split('-').map(Number);
const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const plusDays = (date: string, days: number): string => textOf(Date.parse(date) + days * DAY_MS);
const isEqual = (a: Dates | undefined, b: Dates): boolean => a?.from === b.from && a.to === b.to;

/** The first day of the month that is `months` months after the month of `date`. */
function plusMonths(date: string, months: number): string {
  const [year = 0, month = 1] = partsOf(date);
  return textOf(Date.UTC(year, month - 1 + months, 1));
}
