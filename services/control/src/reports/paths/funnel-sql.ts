import { type Action, FUNNEL_STEPS_MAX as STEPS_MAX } from '@weir/domain/registry/goal';
import { ACTION_COLUMNS, actionCondition } from '../goals/action-sql.ts';
import type { Scope, Statement } from '../report-sql.ts';
import { reportParts } from '../visits/report-parts.ts';

/**
 * The statement of the funnel report. It returns one row for each number of reached steps (`level`, from 0).
 *
 * A step must be later than the step before it. `windowFunnel` alone does not ensure this: it can use one row for two steps, and its order of rows
 * with the same time is not defined. Therefore each row becomes one moment for each step that it matches: eight times its milliseconds, plus a
 * number that is smaller for later steps. Among rows with the same time, later steps therefore come first and cannot follow earlier steps.
 */
export function funnelStatement(scope: Scope, steps: readonly Action[], withinMs: number): Statement {
  const { parameters, tables, hits } = reportParts(scope, undefined, ACTION_COLUMNS);
  const numbers = steps.map((step, n) => `if(${actionCondition(step, `step${n + 1}`, parameters)}, ${n + 1}, 0)`);
  const levels = steps.map((_, n) => `step = ${n + 1}`);
  const sql = `${tables}
SELECT level, count() AS visitors
FROM
(
  SELECT visitor_id, windowFunnel(${withinMs * STEPS_MAX})(moment, ${levels.join(', ')}) AS level
  FROM
  (
    SELECT hit.visitor_id AS visitor_id,
      arrayJoin(arrayFilter(number -> number > 0, [${numbers.join(', ')}])) AS step,
      toUInt64(toUnixTimestamp64Milli(hit.timestamp) * ${STEPS_MAX} + ${STEPS_MAX} - step) AS moment
    FROM ${hits}
  ) AS found
  WHERE visitor_id != ''
  GROUP BY visitor_id
) AS reached
GROUP BY level
ORDER BY level`;
  return { sql, params: parameters.values };
}
