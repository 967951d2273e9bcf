import { NEW_GOAL } from '@weir/domain/registry/admin-limits';
import type { AdminRoute } from './http/admin-route.ts';
import { FUNNEL_OPERATION } from './openapi/funnel-operation.ts';
import { GOAL_OPERATIONS } from './openapi/goal-operations.ts';
import { OVERVIEW_OPERATION } from './openapi/overview-operation.ts';
import { REALTIME_OPERATION } from './openapi/realtime-operation.ts';
import { REPORT_OPERATIONS } from './openapi/report-operations.ts';
import { VISITOR_PATH_OPERATIONS as PATHS } from './openapi/visitor-path-operations.ts';
import { cohorts } from './reports/cohorts/cohorts-route.ts';
import { conversions } from './reports/goals/conversions-route.ts';
import { createGoal, listGoals, removeGoal } from './reports/goals/goals-route.ts';
import { overview } from './reports/overview/overview-route.ts';
import { funnel } from './reports/paths/funnel-route.ts';
import { journeys } from './reports/paths/journeys-route.ts';
import { properties } from './reports/properties/properties-route.ts';
import { realtime } from './reports/realtime/realtime-route.ts';
import { breakdown } from './routes/breakdown-route.ts';
import { stats } from './routes/stats-route.ts';

const SITE = '/sites/{site_id}';

const siteReport = (name: string, operation: AdminRoute['operation'], handler: AdminRoute['handler']): AdminRoute => ({
  method: 'GET',
  path: `${SITE}/${name}`,
  role: 'viewer',
  isReport: true,
  operation,
  handler,
});

/** The routes of the reports (docs/stats.md) and of the goals that they count, relative to /api/admin. */
export const REPORT_ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: '/stats', role: 'admin', operation: OVERVIEW_OPERATION, isReport: true, handler: overview },
  siteReport('stats', REPORT_OPERATIONS.stats, stats),
  siteReport('breakdown', REPORT_OPERATIONS.breakdown, breakdown),
  siteReport('properties', REPORT_OPERATIONS.properties, properties),
  siteReport('realtime', REALTIME_OPERATION, realtime),
  siteReport('funnel', FUNNEL_OPERATION, funnel),
  siteReport('cohorts', PATHS.cohorts, cohorts),
  siteReport('journeys', PATHS.journeys, journeys),
  { method: 'GET', path: `${SITE}/goals`, role: 'viewer', operation: GOAL_OPERATIONS.listGoals, handler: listGoals },
  {
    method: 'POST',
    path: `${SITE}/goals`,
    role: 'admin',
    body: NEW_GOAL,
    operation: GOAL_OPERATIONS.createGoal,
    handler: createGoal,
  },
  {
    method: 'DELETE',
    path: `${SITE}/goals/{goal_id}`,
    role: 'admin',
    operation: GOAL_OPERATIONS.removeGoal,
    handler: removeGoal,
  },
  siteReport('conversions', GOAL_OPERATIONS.conversions, conversions),
];
