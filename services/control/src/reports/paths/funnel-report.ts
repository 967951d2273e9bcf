import type { Action } from '@weir/domain/registry/goal';
import { explained } from '../excluded-rows.ts';
import { ratio } from '../report-metrics.ts';
import type { ReportDeps, ReportRequest } from '../report-request.ts';
import { headView } from '../report-view.ts';
import { funnelStatement } from './funnel-sql.ts';

export interface FunnelOf {
  readonly steps: readonly Action[];
  /** The longest time from the first step to the last one. */
  readonly withinMs: number;
}

export async function funnelReport(
  request: ReportRequest,
  { steps, withinMs }: FunnelOf,
  deps: ReportDeps,
): Promise<object> {
  const statement = funnelStatement(request.scope, steps, withinMs);
  const { rows } = await deps.analytics.userQuery(statement.sql, statement.params);
  const reached = (step: number): number =>
    rows.reduce((sum, { level, visitors }) => sum + (Number(level) >= step ? Number(visitors) : 0), 0);
  const first = reached(1);
  return {
    ...headView(request),
    within_seconds: withinMs / 1000,
    steps: steps.map(({ type, value }, index) => {
      const visitors = reached(index + 1);
      const before = index === 0 ? visitors : reached(index);
      return {
        ...{ type, value, visitors, dropped: before - visitors },
        ...{ rate: ratio(visitors, first), step_rate: ratio(visitors, before) },
      };
    }),
    conversion_rate: ratio(reached(steps.length), first),
    ...(await explained(request, { funnel: statement }, deps)),
  };
}
