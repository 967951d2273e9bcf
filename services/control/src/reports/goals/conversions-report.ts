import type { Goal } from '@weir/domain/registry/goal';
import type { Dimension } from '../dimensions.ts';
import { explained } from '../excluded-rows.ts';
import type { Order } from '../read-query.ts';
import { ratio } from '../report-metrics.ts';
import type { ReportDeps, ReportRequest } from '../report-request.ts';
import type { Statement } from '../report-sql.ts';
import { headView } from '../report-view.ts';
import {
  type ConversionMetric,
  conversionRevenueStatement,
  conversionsStatement,
  goalRevenueStatement,
  goalsStatement,
} from './conversions-sql.ts';

export interface ConversionsOf {
  readonly by: Dimension;
  readonly order: Order<ConversionMetric>;
  readonly limit: number;
  readonly page: number;
}

interface Conversions {
  readonly conversions: number;
  readonly converting: number;
  readonly visitors: number;
}

export async function goalsReport(request: ReportRequest, goals: readonly Goal[], deps: ReportDeps): Promise<object> {
  const statement = goalsStatement(request.scope, goals);
  const found = await ask(statement, deps);
  const revenue = found.some((row) => Number(row.goal) > 0 && Number(row.with_value) > 0)
    ? goalRevenueStatement(request.scope, goals)
    : undefined;
  const paid = revenue === undefined ? [] : await ask(revenue, deps);
  const of = (place: number) => found.find((row) => Number(row.goal) === place);
  const visitors = Number(of(0)?.visitors ?? 0);
  return {
    ...headView(request),
    visitors,
    goals: goals.map((goal, index) => {
      const row = of(index + 1);
      const numbers = { conversions: Number(row?.conversions ?? 0), converting: Number(row?.visitors ?? 0), visitors };
      return {
        ...{ goal_id: goal.goalId, name: goal.name, type: goal.type, value: goal.value },
        ...numbersView(numbers),
        revenue: revenueView(paid.filter((one) => Number(one.goal) === index + 1)),
      };
    }),
    ...(await explained(request, { conversions: statement, revenue }, deps)),
  };
}

/** Answers the report of one goal: its conversions for each value of a dimension. */
export async function conversionsReport(
  request: ReportRequest,
  goal: Goal,
  { by, order, limit, page }: ConversionsOf,
  deps: ReportDeps,
): Promise<object> {
  // One more row than requested shows whether there is another page.
  const paging = { order, rowsMax: limit + 1, skip: (page - 1) * limit };
  const statement = conversionsStatement(request.scope, goal, by, paging);
  const found = await ask(statement, deps);
  const rows = found.slice(0, limit);
  const revenue = rows.some((row) => Number(row.with_value) > 0)
    ? conversionRevenueStatement(
        request.scope,
        goal,
        by,
        rows.map(({ hash }) => String(hash)),
      )
    : undefined;
  const paid = revenue === undefined ? [] : await ask(revenue, deps);
  return {
    ...headView(request),
    goal: { goal_id: goal.goalId, name: goal.name, type: goal.type, value: goal.value },
    ...{ dimension: by.name, order: `${order.metric}:${order.direction}`, limit, page, has_more: found.length > limit },
    rows: rows.map((row) => ({
      value: row.name,
      visitors: Number(row.visitors),
      ...numbersView({
        conversions: Number(row.conversions),
        converting: Number(row.converting_visitors),
        visitors: Number(row.visitors),
      }),
      revenue: revenueView(paid.filter(({ name }) => name === row.name)),
    })),
    ...(await explained(request, { conversions: statement, revenue }, deps)),
  };
}

async function ask({ sql, params }: Statement, { analytics }: ReportDeps) {
  return (await analytics.userQuery(sql, params)).rows;
}

function numbersView({ conversions, converting, visitors }: Conversions): object {
  return {
    conversions,
    converting_visitors: converting,
    conversion_rate: ratio(converting, visitors),
  };
}

function revenueView(rows: readonly Readonly<Record<string, unknown>>[]): readonly object[] {
  return rows.map(({ currency, amount }) => ({ currency, amount }));
}
