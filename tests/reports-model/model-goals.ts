import fc from 'fast-check';
import { type Action, actingRows, actionForm, actionOf, isOfAction } from './model-actions.ts';
import { paymentOf, revenueOf } from './model-payments.ts';
import { periodOf } from './model-periods.ts';
import type { Model, ModelRow } from './model-rows.ts';
import { compareNumbers, compareTexts, leftOut, select, shareOf, visitorsOf } from './model-select.ts';
import { dimensionValue, LISTS_EMPTY } from './model-values.ts';
import { type Answer, type ReportModel, shownExplain, shownSpan } from './report-model.ts';
import { addTo, DIMENSIONS, PARTS, type ScopeQuestion, scopeQuery, scopeQuestion } from './report-questions.ts';

// This file computes the expected answers of `conversions` by the definitions of docs/stats.md (Goals).

const ORDERS = ['conversions', 'converting_visitors', 'visitors', 'conversion_rate'] as const;
type Order = (typeof ORDERS)[number];

interface GoalsQuestion extends ScopeQuestion {
  /** The goals of the site. */
  readonly goals: readonly Action[];
  /** The place of the goal that is asked for, in `goals`. Undefined: all goals. */
  readonly goal: number | undefined;
  /** The IDs of `goals`. Empty until the goals are created. */
  readonly ids: readonly string[];
  /** Empty: the report has no dimension. */
  readonly dimension: string;
  readonly order: Order;
  readonly direction: 'asc' | 'desc';
  readonly limit: number;
  readonly page: number;
}

/** Generates a question. One of three is about all goals or one goal, and the others are by a dimension, in turn. */
function goalsQuestion(model: Model, turn: number): fc.Arbitrary<GoalsQuestion> {
  const dimension =
    turn % 3 === 0 ? '' : (DIMENSIONS[(2 * Math.floor(turn / 3) + (turn % 3) - 1) % DIMENSIONS.length] ?? '');
  const rows = actingRows(model);
  const payments = rows.filter(paymentOf);
  const goal = fc
    .record({ row: fc.nat(), isPayment: fc.boolean(), form: actionForm })
    .map(({ row, isPayment, form }) => {
      const from = isPayment && payments.length > 0 ? payments : rows;
      return actionOf(from[row % from.length], form);
    });
  return fc
    .record({
      asked: scopeQuestion(model),
      goals: fc.uniqueArray(goal, { maxLength: 4, size: 'max', selector: ({ type, value }) => `${type} ${value}` }),
      picked: fc.nat(),
      isOfOne: fc.boolean(),
      order: fc.constantFrom<Order>('conversions', 'conversion_rate', ...ORDERS),
      direction: fc.constantFrom<'asc' | 'desc'>('desc', 'asc'),
      part: fc.constantFrom(...PARTS),
    })
    .filter(({ goals }) => dimension === '' || goals.length > 0)
    .map(({ asked, goals, picked, isOfOne, order, direction, part }) => ({
      ...{ ...asked, goals, dimension, order, direction, ...part, ids: [] },
      goal: (isOfOne || dimension !== '') && goals.length > 0 ? picked % goals.length : undefined,
    }));
}

export const CONVERSIONS_MODEL: ReportModel<GoalsQuestion> = {
  name: 'conversions',
  questions: 3,
  question: goalsQuestion,
  async prepare({ client }, site, asked) {
    const path = `/sites/${site}/goals`;
    const earlier = (await client.must(200, 'GET', path)) as readonly { readonly goal_id: string }[];
    for (const { goal_id } of earlier) await client.must(200, 'DELETE', `${path}/${goal_id}`);
    const ids: string[] = [];
    for (const goal of asked.goals) {
      const { goal_id } = (await client.must(201, 'POST', path, goal)) as { readonly goal_id: string };
      ids.push(goal_id);
    }
    return { ...asked, ids };
  },
  path(asked) {
    const { goal, ids, dimension, order, direction, limit, page } = asked;
    const query = scopeQuery(asked, { goal: goal === undefined ? undefined : ids[goal] });
    if (dimension !== '') addTo(query, { dimension, order: `${order}:${direction}`, limit, page });
    return `/conversions?${query}`;
  },
  expected: (model, asked, now) => (asked.dimension === '' ? expectedGoals : expectedLines)(model, asked, now),
  shown(data) {
    const { visitors, goals, has_more, rows } = data;
    const shownGoal = ({ goal_id, ...numbers }: Answer) => numbers;
    return {
      ...shownSpan(data),
      ...(rows === undefined ? { visitors, goals: (goals as readonly Answer[]).map(shownGoal) } : { has_more, rows }),
      ...shownExplain(data),
    };
  },
};

interface Conversions {
  readonly conversions: number;
  readonly converting_visitors: number;
  readonly conversion_rate: number | null;
  readonly revenue: readonly object[];
}

/** The numbers of a goal, for the rows that the report counts. */
function conversionsOf(goal: Action, hits: readonly ModelRow[]): Conversions {
  const conversions = hits.filter((row) => isOfAction(row, goal));
  const [converting, visitors] = [visitorsOf(conversions), visitorsOf(hits)];
  return {
    conversions: conversions.length,
    converting_visitors: converting,
    conversion_rate: shareOf(converting, visitors),
    revenue: revenueOf(conversions),
  };
}

function expectedGoals(model: Model, asked: GoalsQuestion, now: number): object {
  const period = periodOf(asked, model.history.zone, now, model.rows);
  const { hits } = select(model, asked, period);
  const goals = asked.goals.filter((_, index) => asked.goal === undefined || asked.goal === index);
  return {
    ...period,
    visitors: visitorsOf(hits),
    goals: goals.map((goal) => ({ name: goal.value, ...goal, ...conversionsOf(goal, hits) })),
    ...leftOut(model, asked, period),
  };
}

/** A report by a dimension: each line equals the report with a filter on the value of the line. */
function expectedLines(model: Model, asked: GoalsQuestion, now: number): object {
  const { dimension, order, direction, limit, page, filters } = asked;
  const goal = asked.goals[asked.goal ?? 0] as Action;
  const period = periodOf(asked, model.history.zone, now, model.rows);
  const values = new Set(select(model, asked, period).hits.map((row) => dimensionValue(model, row, dimension)));
  if (!LISTS_EMPTY.includes(dimension)) values.delete('');
  const lines = [...values].map((value) => {
    const only = { dimension, operator: 'is', values: [value] } as const;
    const { hits } = select(model, { ...asked, filters: [...filters, only] }, period);
    const [numbers, visitors] = [conversionsOf(goal, hits), visitorsOf(hits)];
    // The order uses shares that are not rounded.
    const share = visitors === 0 ? null : numbers.converting_visitors / visitors;
    return {
      line: { value, visitors, ...numbers },
      key: order === 'conversion_rate' ? share : { visitors, ...numbers }[order],
    };
  });
  const sorted = lines.toSorted(
    ({ key: x, line: a }, { key: y, line: b }) => compareNumbers(x, y, direction) || compareTexts(a.value, b.value),
  );
  return {
    ...period,
    has_more: sorted.length > page * limit,
    rows: sorted.slice((page - 1) * limit, page * limit).map(({ line }) => line),
    ...leftOut(model, asked, period),
  };
}
