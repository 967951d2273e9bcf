import type { Dimension } from '../dimensions.ts';
import { conditionOf } from '../parameters.ts';
import {
  type AskedScope,
  BEGUN_OF_VISIT,
  HIT_COLUMNS,
  nameOfText,
  type ReportParts,
  ROWS_OF_PERIOD,
  scopeSql,
  VISIT_COLUMNS,
} from '../report-sql.ts';

interface SessionParts extends ReportParts {
  /**
   * Like `hits`, but always joined with the visits. `hits` is joined only if necessary, because ClickHouse evaluates `visit` again each time that a
   * statement names it.
   */
  readonly hitsWithVisits: string;
}

/**
 * The parts of a report that reads visits from `sessions`, but only the visits of the rows that it counts. `sessions` is ordered by session and not
 * by time, so the report would otherwise merge the whole history of the site.
 */
export function sessionParts(scope: AskedScope, by: Dimension | undefined, columns: readonly string[]): SessionParts {
  const { parameters, visitorLists, ofVisit, visitDimensions, hitConditions, began } = scopeSql(scope, by);
  const isJoined = visitDimensions.length > 0;
  const hitValue = ({ scope, sql, ownSql }: Dimension): string =>
    scope === 'hit' ? 'name' : `if(visit.session_id = '', ${ownSql === '' ? "''" : `hit.${ownSql}`}, visit.${sql})`;

  const hitColumns = [
    ...new Set([
      'session_id',
      'sipHash64(session_id) AS session_key',
      ...HIT_COLUMNS.map((column) => (column === 'visitor_key' ? 'sipHash64(visitor_id) AS visitor_key' : column)),
      ...columns,
      ...visitDimensions.map(({ ownSql }) => ownSql).filter((column) => column !== ''),
    ]),
    ...(by?.scope === 'hit' ? [`${parameters.valueOf(by, by.sql)} AS name`] : []),
  ];
  const visitColumns = ['session_id', ...new Set([...VISIT_COLUMNS, ...visitDimensions.map(({ sql }) => sql)])];
  const joined = ofVisit.map(({ filter, name }) => conditionOf(filter, hitValue(filter.dimension), name, parameters));
  const begun =
    by?.scope === 'hit'
      ? // Collecting the values of each session in an array before the join halves the number of joined rows.
        {
          name: ', each AS name',
          rows: '(SELECT session_id, groupUniqArray(name) AS names FROM hit GROUP BY session_id) AS hit\n  INNER JOIN visit ON visit.session_id = hit.session_id\n  ARRAY JOIN hit.names AS each',
        }
      : { name: by === undefined ? '' : `, visit.${by.sql} AS name`, rows: 'visit' };
  const tables = `WITH
${visitorLists.map((expression) => `${expression},\n`).join('')}hit AS
(
  SELECT ${hitColumns.join(', ')}
  FROM events
  WHERE ${['site_id = {site:String}', ROWS_OF_PERIOD, ...hitConditions].join('\n    AND ')}
),
visit AS
(
  SELECT ${visitColumns.join(', ')}
  FROM sessions
  WHERE site_id = {site:String} AND session_id IN (SELECT session_id FROM hit)
),
begun AS
(
  SELECT ${BEGUN_OF_VISIT}${begun.name}
  FROM ${begun.rows}
  WHERE ${began}
)`;
  const where = joined.length > 0 ? `\n  WHERE ${joined.join(' AND ')}` : '';
  const hitsWithVisits = `hit LEFT JOIN visit ON visit.session_id = hit.session_id${where}`;
  return {
    parameters,
    tables,
    hits: isJoined ? hitsWithVisits : `hit${where}`,
    hitsWithVisits,
    began,
    begunName: nameOfText(by),
    hitValue,
  };
}
