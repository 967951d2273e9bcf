import type { Dimension } from '../dimensions.ts';
import { conditionOf } from '../parameters.ts';
import { BEGUN_OF_VISIT, HIT_COLUMNS, type ReportParts, type Scope, scopeSql, VISIT_COLUMNS } from '../report-sql.ts';
import { IS_SESSION, rowVisitColumn } from './row-visits.ts';
import { COMPUTED, movedSql, OF_SITE, putDays, SESSION_ID, SPAN_MS, timeAt } from './visit-rows.ts';

/**
 * The parts of a report that reads only rows of the period and of the days beside it (docs/decisions/0035). It groups the rows by session
 * to compute the visits. The value of a visit dimension of a row is the stamp of the row. Only rows without a right stamp are
 * joined with their visits. So are all rows if the report uses the exit page, which no stamp can have.
 */
export function stampedParts(
  scope: Scope & { readonly visits: { readonly of: 'rows' } },
  by: Dimension | undefined,
  columns: readonly string[],
): ReportParts {
  const { parameters, ofVisit, visitDimensions, hitConditions, began } = scopeSql(scope, by);
  putDays(scope.period, parameters);
  const hasExit = visitDimensions.some(({ stampSql }) => stampSql === '');
  const name = by?.scope === 'hit' ? parameters.valueOf(by, by.sql) : '';
  const passes = hitConditions.join(' AND ');

  const usesStamps = visitDimensions.length > 0 && !hasExit;
  const isStamped = !usesStamps ? '0' : `records.visit_stamp = 1 AND records.session_id NOT IN (${COMPUTED})`;
  const hitColumns = [
    ...new Set([...HIT_COLUMNS.slice(1), ...columns]),
    ...new Set(visitDimensions.flatMap(({ ownSql, stampSql }) => [ownSql, stampSql]).filter((column) => column !== '')),
  ];
  const visitColumns = [...new Set([...VISIT_COLUMNS, ...visitDimensions.map(({ sql }) => sql)])];
  const visitTable = (onlyComputed: boolean): string => `
(
  SELECT ${[`${SESSION_ID} AS session_id`, ...visitColumns.slice(1).map(rowVisitColumn)].join(',\n    ')}${name === '' ? '' : `,\n    groupUniqArrayIf(${name}, ${passes}) AS names`}
  FROM records
  WHERE ${OF_SITE} AND bot = '' AND records.session_id != ''
    AND timestamp >= ${timeAt('from', -SPAN_MS)} AND timestamp < ${timeAt('to', SPAN_MS)}${onlyComputed ? `\n    AND records.session_id IN (${COMPUTED})` : ''}
  GROUP BY session_id
  HAVING ${IS_SESSION} AND max(${passes})
)`;
  const hitValue = ({ scope: kind, sql, ownSql, stampSql }: Dimension): string => {
    if (kind === 'hit') return 'name';
    const joined = `if(visit.session_id = '', ${ownSql === '' ? "''" : `toString(hit.${ownSql})`}, visit.${sql})`;
    return stampSql === '' ? joined : `if(hit.is_stamped, toString(hit.${stampSql}), ${joined})`;
  };
  const begunName =
    by?.scope === 'hit' ? ', arrayJoin(visit.names) AS name' : by === undefined ? '' : `, visit.${by.sql} AS name`;
  const joined = ofVisit.map(({ filter, name }) => conditionOf(filter, hitValue(filter.dimension), name, parameters));
  const tables = `WITH
${movedSql(scope.visits.moved, parameters)},
hit AS
(
  SELECT ${[`${SESSION_ID} AS session_id`, ...hitColumns, ...(name === '' ? [] : [`${name} AS name`]), `${isStamped} AS is_stamped`].join(', ')}
  FROM records
  WHERE ${[OF_SITE, ...hitConditions].join('\n    AND ')}
),
visit AS${visitTable(false)},
begun AS
(
  SELECT ${BEGUN_OF_VISIT}${begunName}
  FROM visit
  WHERE ${began}
)`;
  // Only rows without a right stamp need the join. The others have no session ID in it.
  const join = `LEFT JOIN ${usesStamps ? `${visitTable(true)} AS visit` : 'visit'} ON visit.session_id = if(hit.is_stamped, '', hit.session_id)`;
  return {
    parameters,
    tables,
    hits: `hit${visitDimensions.length > 0 ? ` ${join}` : ''}${joined.length > 0 ? `\n  WHERE ${joined.join(' AND ')}` : ''}`,
    began,
    hitValue,
  };
}
