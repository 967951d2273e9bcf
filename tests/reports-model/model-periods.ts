import { DAY_MS, dayStart, daysLater, localDate, monthsLater } from './local-time.ts';
import type { ModelRow } from './model-rows.ts';
import type { Question } from './report-questions.ts';

// This file computes the periods of the reports by the definitions of docs/stats.md (Period and buckets).

export interface Period {
  readonly from: number;
  readonly to: number;
}
export const within = ({ from, to }: Period, ms: number): boolean => ms >= from && ms < to;

export function periodOf(
  { period, from, to }: Pick<Question, 'period' | 'from' | 'to'>,
  zone: string,
  now: number,
  rows: readonly ModelRow[],
): Period {
  const today = localDate(now, zone);
  const days = (first: string, end: string): Period => ({ from: dayStart(first, zone), to: dayStart(end, zone) });
  if (from !== undefined) {
    const moment = (text: string, later: number): number =>
      text.includes('T') ? Date.parse(text) : dayStart(daysLater(text, later), zone);
    return { from: moment(from, 0), to: moment(to ?? today, 1) };
  }
  const tomorrow = daysLater(today, 1);
  switch (period) {
    case '24h':
      return { from: now - DAY_MS, to: now };
    case 'yesterday':
      return days(daysLater(today, -1), today);
    case 'month':
      return days(`${today.slice(0, 8)}01`, tomorrow);
    case 'year':
      return days(`${today.slice(0, 5)}01-01`, tomorrow);
    case '12mo':
      return days(monthsLater(`${today.slice(0, 8)}01`, -11), tomorrow);
    case 'all': {
      const first = rows.length === 0 ? today : localDate(Math.min(...rows.map(({ at }) => at)), zone);
      return days(dateBefore(first, today), tomorrow);
    }
    default:
      return days(daysLater(today, 1 - (Number.parseInt(period ?? '30d', 10) || 1)), tomorrow);
  }
}

function dateBefore(a: string, b: string): string {
  return [a, b].toSorted()[0] ?? a;
}

export function comparedPeriod({ from, to }: Period, { compare }: Pick<Question, 'compare'>, zone: string): Period {
  const isDays = [from, to].every((ms) => dayStart(localDate(ms, zone), zone) === ms);
  if (!isDays) return { from: from - (to - from), to: from };
  const [first, end] = [localDate(from, zone), localDate(to, zone)];
  const count = (Date.parse(end) - Date.parse(first)) / DAY_MS;
  if (compare === 'previous_period') return { from: dayStart(daysLater(first, -count), zone), to: from };
  const lastBefore = monthsLater(daysLater(end, -1), -12);
  return { from: dayStart(monthsLater(first, -12), zone), to: dayStart(daysLater(lastBefore, 1), zone) };
}
