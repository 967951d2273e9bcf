import type { Dimension } from '../dimensions.ts';
import { conditionOf } from '../parameters.ts';
import {
  BEGAN_IN_PERIOD,
  BEGUN_OF_VISIT,
  HIT_COLUMNS,
  IN_PERIOD,
  type ReportParts,
  type Scope,
  scopeSql,
  VISIT_COLUMNS,
} from '../report-sql.ts';
import { IS_SESSION, rowVisitColumn } from './row-visits.ts';
import { COMPUTED, movedSql, OF_SITE, putDays, SESSION_ID, SPAN_MS, timeAt, VISIT_MS_MAX } from './visit-rows.ts';

/** The columns of `records` whose sums are the counts of the visits that have a stamp. */
const BEGUN_OF_STAMPS =
  "visit_started AS started_at, toInt64(visit_new) AS visits, toInt64(visit_bounces) AS bounces, toInt64(visit_seconds) AS seconds, toInt64(type = 'pageview') AS views";
/** Rows that change no sum would make empty lines in a breakdown. */
const CHANGES_SUMS = "(visit_new != 0 OR visit_bounces != 0 OR visit_seconds != 0 OR type = 'pageview')";

/**
 * The parts of a report that reads only rows of the period and of the days beside it (docs/decisions/0035). The numbers of visits are sums of
 * stamps, except for visits whose stamps are not right: these are computed from their rows. If rows of one visit can differ in what
 * the report selects, by a filter on rows or a dimension of rows, all visits are computed from their rows. So is the exit page, which
 * no stamp can have.
 */
export function stampedParts(
  scope: Scope & { readonly visits: { readonly of: 'rows' } },
  by: Dimension | undefined,
  columns: readonly string[],
): ReportParts {
  const { parameters, ofVisit, hitConditions } = scopeSql(scope);
  putDays(scope.period, parameters);
  const visitDimensions = [...ofVisit.map(({ filter }) => filter.dimension), ...(by?.scope === 'visit' ? [by] : [])];
  const hasExit = visitDimensions.some(({ stampSql }) => stampSql === '');
  const isSum = !hasExit && by?.scope !== 'hit' && scope.filters.length === ofVisit.length;
  const name = by?.scope === 'hit' ? parameters.valueOf(by, by.sql) : '';
  const passes = hitConditions.join(' AND ');

  const isStamped = hasExit ? '0' : `records.visit_stamp = 1 AND records.session_id NOT IN (${COMPUTED})`;
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
  const began = [
    ...BEGAN_IN_PERIOD,
    ...ofVisit.map(({ filter, name }) => conditionOf(filter, filter.dimension.sql, name, parameters)),
  ].join(' AND ');
  const begun = [
    `SELECT ${BEGUN_OF_VISIT}${by === undefined ? '' : `, ${by.scope === 'hit' ? 'arrayJoin(visit.names)' : `visit.${by.sql}`} AS name`}
  FROM visit
  WHERE ${began}`,
    ...(isSum
      ? [
          stampSums(
            by,
            ofVisit.map(({ filter, name }) => conditionOf(filter, filter.dimension.stampSql, name, parameters)),
          ),
        ]
      : []),
  ];
  const joined = ofVisit.map(({ filter, name }) => conditionOf(filter, hitValue(filter.dimension), name, parameters));
  const tables = `WITH
${movedSql(scope.visits.moved, parameters)},
hit AS
(
  SELECT ${[`${SESSION_ID} AS session_id`, ...hitColumns, ...(name === '' ? [] : [`${name} AS name`]), `${isStamped} AS is_stamped`].join(', ')}
  FROM records
  WHERE ${[OF_SITE, ...hitConditions].join('\n    AND ')}
),
visit AS${visitTable(isSum)},
begun AS
(
  ${begun.join('\n  UNION ALL\n  ')}
)`;
  // Only rows without a right stamp need the join. The others have no session ID in it.
  const join = `LEFT JOIN ${isSum || hasExit ? 'visit' : `${visitTable(true)} AS visit`} ON visit.session_id = if(hit.is_stamped, '', hit.session_id)`;
  return {
    parameters,
    tables,
    hits: `hit${visitDimensions.length > 0 ? ` ${join}` : ''}${joined.length > 0 ? `\n  WHERE ${joined.join(' AND ')}` : ''}`,
    began,
    hitValue,
  };
}

/**
 * The stamps of the visits that began in the period. Rows after the period belong to such visits too. They count only if a counted row of
 * their visit is in the period: a visit can begin with an event that is not counted.
 */
function stampSums(by: Dimension | undefined, filters: readonly string[]): string {
  const conditions = [
    OF_SITE,
    'visit_stamp = 1',
    `visit_started >= ${timeAt('from', 0)} AND visit_started < ${timeAt('to', 0)}`,
    CHANGES_SUMS,
    ...filters,
    `records.session_id NOT IN (${COMPUTED})`,
    `timestamp >= ${timeAt('from', 0)} AND timestamp < ${timeAt('to', VISIT_MS_MAX)}`,
  ].join(' AND ');
  return `SELECT ${BEGUN_OF_STAMPS}${by === undefined ? '' : `, toString(${by.stampSql}) AS name`}
  FROM records
  WHERE ${conditions}
    AND (timestamp < ${timeAt('to', 0)} OR records.session_id IN
    (
      SELECT session_id FROM records
      WHERE ${OF_SITE} AND visit_stamp = 1 AND NOT startsWith(event_name, '$') AND timestamp >= ${timeAt('to', -VISIT_MS_MAX)} AND ${IN_PERIOD}
    ))`;
}
