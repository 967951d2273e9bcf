import fc from 'fast-check';
import { DAY_MS, MINUTE_MS } from './local-time.ts';
import { isInternal, type Model, type ModelRow } from './model-rows.ts';
import type { Question } from './report-questions.ts';

// Times near the rows of a history. At a random time, usually no row is near the limit of a period, so a mistake at this limit would stay hidden.

/**
 * Generates a time in the 31 minutes after a row of the history. In some cases, the row is exactly at a limit of the last 5 or 30 minutes, or of a
 * minute.
 */
export function timeAfterRow({ rows, history }: Model): fc.Arbitrary<number> {
  const afterMs = fc.oneof(
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 5 * MINUTE_MS }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 31 * MINUTE_MS }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }).map((minutes) => minutes * MINUTE_MS) },
    { weight: 1, arbitrary: fc.constantFrom(0, 5 * MINUTE_MS, 30 * MINUTE_MS, 30 * MINUTE_MS + 1) },
  );
  return fc
    .record({ picked: fc.nat(), afterMs })
    .map(({ picked, afterMs: after }) => (rows[picked % rows.length]?.at ?? history.base) + after);
}

/**
 * Generates a period that begins with a row or directly after it. In half of the periods, this is a row of a bot or an event whose name begins with
 * `$`, and the visitor's first other row follows it. Such a visitor is new in the period.
 */
export function periodAtRow({ rows, history }: Model): fc.Arbitrary<Pick<Question, 'period' | 'from' | 'to'>> {
  const isCounted = (row: ModelRow): boolean => !isInternal(row) && row.bot === '';
  const firstOf = new Map<string, number>();
  for (const { visitor, at } of rows.filter(isCounted)) firstOf.set(visitor, Math.min(at, firstOf.get(visitor) ?? at));
  const uncounted = rows.filter((row) => !isCounted(row) && row.at < (firstOf.get(row.visitor) ?? row.at));
  return fc
    .record({
      picked: fc.nat(),
      isUncounted: fc.boolean(),
      afterMs: fc.constantFrom(0, 1),
      lengthMs: fc.integer({ min: 1, max: 3 * DAY_MS }),
    })
    .map(({ picked, isUncounted, afterMs, lengthMs }) => {
      const known = isUncounted && uncounted.length > 0 ? uncounted : rows;
      const from = (known[picked % known.length]?.at ?? history.base) + afterMs;
      const text = (ms: number): string => new Date(ms).toISOString();
      return { period: undefined, from: text(from), to: text(from + lengthMs) };
    });
}
