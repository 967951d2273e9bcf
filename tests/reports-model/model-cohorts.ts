import fc from 'fast-check';
import { bucketsOf, type Interval } from './local-time.ts';
import { type Period, periodOf, within } from './model-periods.ts';
import type { Model, ModelRow } from './model-rows.ts';
import { leftOut, select, shareOf } from './model-select.ts';
import { type Answer, type ReportModel, shownExplain, shownSpan, shownTimes } from './report-model.ts';
import { OTHER_ZONES, type ScopeQuestion, scopeQuery, scopeQuestion } from './report-questions.ts';
import { periodAtRow } from './row-times.ts';

// This file computes the expected answers of `cohorts` by the definitions of docs/stats.md (Cohorts).

interface CohortsQuestion extends ScopeQuestion {
  /** Undefined: the default, which is `day`. */
  readonly interval: Exclude<Interval, 'hour'> | undefined;
  /** Undefined: the time zone of the site. */
  readonly timezone: string | undefined;
}

/** The answer has at most 60 buckets. These periods have more days. */
const TOO_LONG_FOR_DAYS = ['90d', '12mo', 'year'];

function cohortsQuestion(model: Model): fc.Arbitrary<CohortsQuestion> {
  return fc
    .record({
      asked: scopeQuestion(model),
      atRow: fc.oneof(fc.constant(undefined), periodAtRow(model)),
      interval: fc.constantFrom<CohortsQuestion['interval']>(undefined, 'day', 'day', 'day', 'week', 'month'),
      timezone: fc.constantFrom(undefined, undefined, undefined, ...OTHER_ZONES),
    })
    .map(({ asked, atRow, interval, timezone }) => {
      const scope = { ...asked, ...atRow };
      const isLong = TOO_LONG_FOR_DAYS.includes(scope.period ?? '') && (interval ?? 'day') === 'day';
      return { ...scope, timezone, interval: isLong ? 'week' : interval };
    });
}

export const COHORTS_MODEL: ReportModel<CohortsQuestion> = {
  name: 'cohorts',
  questions: 3,
  question: cohortsQuestion,
  path(asked) {
    return `/cohorts?${scopeQuery(asked, { interval: asked.interval, timezone: asked.timezone })}`;
  },
  expected(model, asked, now) {
    const { interval = 'day', timezone = model.history.zone, bots } = asked;
    const period = periodOf(asked, timezone, now, model.rows);
    const starts = bucketsOf(period.from, period.to, timezone, interval);
    const buckets = starts.map((from, index): Period => ({ from, to: starts[index + 1] ?? period.to }));
    const earlier = select(model, { filters: [], bots }, { from: Number.NEGATIVE_INFINITY, to: period.from }).hits;
    const seenBefore = new Set(earlier.map(({ visitor }) => visitor));
    const timesOf = timesByVisitor(select(model, asked, period).hits);
    const members = [...timesOf].filter(([visitor]) => visitor !== '' && !seenBefore.has(visitor));
    return {
      ...period,
      interval,
      cohorts: buckets.map((bucket, nth) => {
        const cohort = members.filter(([, times]) => within(bucket, Math.min(...times)));
        const returned = buckets
          .slice(nth + 1)
          .map((later) => cohort.filter(([, times]) => times.some((at) => within(later, at))).length);
        return {
          ...{ start: bucket.from, end: bucket.to, visitors: cohort.length, returned },
          rates: returned.map((count) => shareOf(count, cohort.length)),
        };
      }),
      ...leftOut(model, asked, period),
    };
  },
  shown(data) {
    const { interval, cohorts } = data;
    return {
      ...shownSpan(data),
      interval,
      cohorts: (cohorts as readonly Answer[]).map((cohort) => shownTimes(cohort, 'start', 'end')),
      ...shownExplain(data),
    };
  },
};

function timesByVisitor(rows: readonly ModelRow[]): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>();
  for (const { visitor, at } of rows) times.set(visitor, [...(times.get(visitor) ?? []), at]);
  return times;
}
