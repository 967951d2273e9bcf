import { bucketsOf } from './local-time.ts';
import { comparedPeriod, type Period, periodOf, within } from './model-periods.ts';
import type { Model, ModelVisit } from './model-rows.ts';
import { compareNumbers, compareTexts, leftOut, type Selected, select, visitorsOf } from './model-select.ts';
import { dimensionValue, isOfVisit, LISTS_EMPTY, visitValue } from './model-values.ts';
import { type Answer, type ReportModel, shownExplain, shownSpan, shownTimes } from './report-model.ts';
import {
  botsQuestion,
  DIMENSIONS,
  type Filter,
  pagesQuestion,
  pathOf,
  type Question,
  question,
} from './report-questions.ts';

// This file computes the expected answers of `stats` and `breakdown` by the definitions of docs/stats.md, from the rows and visits of the model.

interface Numbers {
  readonly visitors: number;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  readonly bounce_rate: number | null;
  readonly visit_duration: number | null;
  readonly views_per_visit: number | null;
}

export function numbersOf({ hits, visits }: Pick<Selected, 'hits' | 'visits'>): Numbers {
  const mean = (of: (visit: ModelVisit) => number, decimals: number): number | null =>
    visits.length === 0
      ? null
      : Number((visits.reduce((sum, visit) => sum + of(visit), 0) / visits.length).toFixed(decimals));
  return {
    visitors: visitorsOf(hits),
    visits: visits.length,
    pageviews: hits.filter(({ name }) => name === '').length,
    events: hits.filter(({ name }) => name !== '').length,
    bounce_rate: mean(({ isBounce }) => Number(isBounce), 4),
    visit_duration: mean(({ seconds }) => seconds, 2),
    views_per_visit: mean(({ pageviews }) => pageviews, 2),
  };
}

function expectedStats(model: Model, question: Question, now: number): object {
  const { timezone: zone = model.history.zone } = question;
  const period = periodOf(question, zone, now, model.rows);
  const of = ({ from, to }: Period) => {
    const selected = select(model, question, { from, to });
    const starts = bucketsOf(from, to, zone, question.interval);
    const buckets = starts.map((start, index) => {
      const bucket = { from: start, to: starts[index + 1] ?? to };
      return {
        ...{ start, end: bucket.to },
        ...numbersOf({
          hits: selected.hits.filter(({ at }) => within(bucket, at)),
          visits: selected.visits.filter((visit) => within(bucket, visit.start)),
        }),
      };
    });
    return { from, to, totals: numbersOf(selected), buckets };
  };
  const present = of(period);
  if (question.compare === undefined) return { ...present, ...leftOut(model, question, period) };
  const before = of(comparedPeriod(period, question, zone));
  return {
    ...present,
    comparison: { ...before, change: changeOf(present.totals, before.totals) },
    ...leftOut(model, question, period),
  };
}

export function changeOf(now: Numbers, before: Numbers): object {
  return Object.fromEntries(
    (Object.keys(now) as (keyof Numbers)[]).map((name) => {
      const [to, from] = [now[name], before[name]];
      return [name, to === null || from === null || from === 0 ? null : Number(((to - from) / from).toFixed(4))];
    }),
  );
}

function expectedBreakdown(model: Model, question: Question, now: number): object {
  const { dimension, order, metrics, limit, page, timezone: zone = model.history.zone } = question;
  const period = periodOf(question, zone, now, model.rows);
  const numbersIn = (within: Period): ReadonlyMap<string, Numbers> => {
    const selected = select(model, question, within);
    const values = new Set([
      ...selected.hits.map((row) => dimensionValue(model, row, dimension)),
      ...(isOfVisit(dimension) ? selected.visits.map((visit) => visitValue(visit, dimension)) : []),
    ]);
    if (!LISTS_EMPTY.includes(dimension)) values.delete('');
    return new Map(
      [...values].map((value) => {
        const only: Filter = { dimension, operator: 'is', values: [value] };
        return [value, numbersOf(select(model, { ...question, filters: [...question.filters, only] }, within))];
      }),
    );
  };
  const [metric, direction] = order.split(':') as [keyof Numbers, string];
  const all = [...numbersIn(period)].toSorted(
    ([a, left], [b, right]) => compareNumbers(left[metric], right[metric], direction) || compareTexts(a, b),
  );
  const compared = question.compare === undefined ? undefined : comparedPeriod(period, question, zone);
  const before = compared === undefined ? undefined : numbersIn(compared);
  const none = numbersOf({ hits: [], visits: [] });
  const asked = (numbers: Numbers): Partial<Numbers> =>
    Object.fromEntries(Object.entries(numbers).filter(([name]) => metrics?.includes(name) ?? true));
  return {
    ...period,
    has_more: all.length > page * limit,
    ...(compared === undefined ? {} : { comparison: compared }),
    rows: all.slice((page - 1) * limit, page * limit).map(([value, numbers]) => ({
      value,
      ...asked(numbers),
      ...(before && { before: asked(before.get(value) ?? none) }),
    })),
    ...leftOut(model, question, period),
  };
}

export const STATS_MODEL: ReportModel<Question> = {
  name: 'stats',
  questions: 2,
  question,
  path: pathOf,
  expected: expectedStats,
  shown: shownStats,
};

function shownStats(data: Answer): object {
  const { totals, buckets, comparison } = data;
  const { change } = (comparison ?? {}) as Answer;
  return {
    ...shownSpan(data),
    ...{ totals, buckets: (buckets as readonly Answer[]).map((bucket) => shownTimes(bucket, 'start', 'end')) },
    ...(comparison === undefined ? {} : { comparison: { ...shownStats(comparison as Answer), change } }),
    ...shownExplain(data),
  };
}

export const BREAKDOWN_MODEL: ReportModel<Question> = {
  name: 'breakdown',
  questions: 4,
  question: (model, turn) =>
    question(model).map((asked) => ({ ...asked, dimension: DIMENSIONS[turn % DIMENSIONS.length] ?? '' })),
  path: pathOf,
  expected: expectedBreakdown,
  shown: shownBreakdown,
};

function shownBreakdown(data: Answer): object {
  const { has_more, rows, comparison } = data;
  return {
    ...shownSpan(data),
    ...{ has_more, rows },
    ...(comparison === undefined ? {} : { comparison: shownSpan(comparison as Answer) }),
    ...shownExplain(data),
  };
}

/** Breakdowns by page, which count visits by the array `page_visits` of slots (docs/decisions/0060). */
export const PAGES_MODEL: ReportModel<Question> = {
  ...BREAKDOWN_MODEL,
  name: 'pages',
  questions: 3,
  question: pagesQuestion,
};

/** Stats and breakdowns with bots that use a dimension of visits. They have statements of their own (docs/decisions/0058). */
export const BOTS_MODEL: ReportModel<Question> = {
  name: 'bots',
  questions: 4,
  question: botsQuestion,
  path: pathOf,
  expected: (model, asked, now) => (asked.dimension === '' ? expectedStats : expectedBreakdown)(model, asked, now),
  shown: (data) => (data.totals === undefined ? shownBreakdown : shownStats)(data),
};
