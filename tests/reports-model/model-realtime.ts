import fc from 'fast-check';
import { MINUTE_MS } from './local-time.ts';
import { within } from './model-periods.ts';
import { type Counted, compareTexts, countedOf, leftOut, select } from './model-select.ts';
import { dimensionValue, LISTS_EMPTY } from './model-values.ts';
import { type Answer, type ReportModel, shownExplain, shownSpan, shownTimes } from './report-model.ts';
import { type ScopeQuestion, scopeQuery, scopeQuestion } from './report-questions.ts';
import { timeAfterRow } from './row-times.ts';

// This file computes the expected answers of `realtime` by the definitions of docs/stats.md (Realtime).

const LIMIT_DEFAULT = 10;
const MINUTES = 30;
const LISTS = { pages: 'page', sources: 'source', countries: 'country' } as const;

interface RealtimeQuestion extends ScopeQuestion {
  /** The time of the request. */
  readonly askedAt: number;
  /** Undefined: the default. */
  readonly limit: number | undefined;
}

export const REALTIME_MODEL: ReportModel<RealtimeQuestion> = {
  name: 'realtime',
  questions: 3,
  question: (model) =>
    fc
      .record({
        asked: scopeQuestion(model),
        askedAt: timeAfterRow(model),
        limit: fc.constantFrom(undefined, undefined, 1, 2, 100),
      })
      .map(({ asked, ...others }) => ({ ...asked, ...others, period: undefined, from: undefined, to: undefined })),
  async prepare(lane, _site, asked) {
    lane.now = asked.askedAt;
    return asked;
  },
  path(asked) {
    return `/realtime?${scopeQuery(asked, { limit: asked.limit })}`;
  },
  expected(model, asked, now) {
    const { limit = LIMIT_DEFAULT } = asked;
    const period = { from: now - MINUTES * MINUTE_MS, to: now };
    const { hits } = select(model, asked, period);
    const numbersFrom = (from: number, to: number): Counted =>
      countedOf(hits.filter(({ at }) => within({ from, to }, at)));
    const listOf = (dimension: string): readonly object[] => {
      const values = new Set(hits.map((row) => dimensionValue(model, row, dimension)));
      if (!LISTS_EMPTY.includes(dimension)) values.delete('');
      const lines = [...values].map((value) => ({
        value,
        ...countedOf(hits.filter((row) => dimensionValue(model, row, dimension) === value)),
      }));
      return lines.toSorted((a, b) => b.visitors - a.visitors || compareTexts(a.value, b.value)).slice(0, limit);
    };
    return {
      ...period,
      limit,
      last_5_minutes: numbersFrom(now - 5 * MINUTE_MS, now),
      last_30_minutes: countedOf(hits),
      minutes: Array.from({ length: MINUTES }, (_, nth) => {
        const start = period.from + nth * MINUTE_MS;
        return { start, ...numbersFrom(start, start + MINUTE_MS) };
      }),
      ...Object.fromEntries(Object.entries(LISTS).map(([name, dimension]) => [name, listOf(dimension)])),
      ...leftOut(model, asked, period),
    };
  },
  shown(data) {
    const { limit, last_5_minutes, last_30_minutes, minutes, pages, sources, countries } = data;
    return {
      ...shownSpan(data),
      ...{ limit, last_5_minutes, last_30_minutes, pages, sources, countries },
      minutes: (minutes as readonly Answer[]).map((minute) => shownTimes(minute, 'start')),
      ...shownExplain(data),
    };
  },
};
