import { rowsOutside } from '../../rows-between.ts';
import type { Dimension } from '../dimensions.ts';
import { conditionOf } from '../parameters.ts';
import {
  BEGUN_OF_VISIT,
  HIT_COLUMNS,
  nameOfText,
  type ReportParts,
  ROWS_OF_PERIOD,
  type Scope,
  scopeSql,
  VISIT_COLUMNS,
} from '../report-sql.ts';
import { BOT_KEYS } from './bot-visits.ts';
import { countsOnlyBots } from './only-bots-parts.ts';
import { IS_SESSION, rowVisitColumn } from './row-visits.ts';
import {
  computedKeys,
  hasMoved,
  movedSql,
  type NearVisits,
  NO_KEY,
  nearPeriod,
  OF_SITE,
  putDays,
  SPAN_MS,
  sessionKey,
  VISIT_MS_MAX,
} from './visit-rows.ts';

/**
 * The parts of a report that reads only rows of the period and of the days beside it (docs/decisions/0035). It groups the rows by session to compute
 * the visits. For a row, the value of a dimension of visits comes from the stamp (docs/glossary.md) of the row. A row without a valid stamp is joined
 * with its visit instead. No stamp has the exit page, so a report that uses the exit page joins all rows with their visits.
 */
export function stampedParts(
  scope: Scope & { readonly visits: { readonly of: 'rows' } },
  by: Dimension | undefined,
  columns: readonly string[],
): ReportParts {
  const { near, built, bots } = scope.visits;
  // Without rows of bots that belong to a visit, the numbers of visits are those of a report without bots.
  const visitsOfBots = scope.withBots && bots !== 'apart';
  // Few rows are of bots, and few of those belong to a visit. PREWHERE: ClickHouse reads the other columns only near such rows.
  const findsBots = visitsOfBots && countsOnlyBots(scope.filters, by);
  const { parameters, visitorLists, ofVisit, visitDimensions, hitConditions, began } = scopeSql(scope, by, built);
  const hasExit = visitDimensions.some(({ stampSql }) => stampSql === '');
  const name = by?.scope === 'hit' ? parameters.valueOf(by, by.sql) : '';
  const passes = hitConditions.join(' AND ');
  // Rows and visits of the days `built` are left out here, because the report reads them from `visit_slots`.
  const run =
    built === undefined
      ? undefined
      : ([parameters.put('run_from', 'Int64', built.fromMs), parameters.put('run_to', 'Int64', built.toMs)] as const);
  const [runFrom, runTo] = run ?? [];

  const usesStamps = visitDimensions.length > 0 && !hasExit;
  putDays(scope.period, near.skipped, parameters);
  const computed = computedKeys(near);
  const isStamped = !usesStamps ? '0' : `records.visit_stamp = 1 AND records.session_key NOT IN (${computed})`;
  const hitColumns = [
    ...new Set([...HIT_COLUMNS, ...columns, ...visitDimensions.map(({ ownSql }) => ownSql).filter(isColumn)]),
  ];
  const stampColumns = [...new Set(visitDimensions.map(({ stampSql }) => stampSql).filter(isColumn))];
  const visitColumns = [...new Set([...VISIT_COLUMNS, ...visitDimensions.map(({ sql }) => sql)])];
  // If the report includes bots, a row of a bot can pass the filters and belong to a visit. `visit` is computed without the rows of bots, so the
  // values of the dimension (`names`) come from `hit`.
  const isNamedByHits = visitsOfBots && name !== '';
  // No visit of a counted row continues for more than a day beyond the period (visit-source.ts), so a day suffices. But a row of a bot can have the
  // session ID of a visit that does not reach the period, so a report with bots reads a longer span.
  const visitSpanMs = visitsOfBots ? SPAN_MS : VISIT_MS_MAX;
  const isOfHit = `${sessionKey(near)} IN (SELECT session_key FROM hit)`;
  const visitTable = (onlyComputed: boolean): string => `
(
  SELECT ${[`${sessionKey(near)} AS session_key`, ...visitColumns.map(rowVisitColumn)].join(',\n    ')}${name === '' || isNamedByHits ? '' : `,\n    arrayDistinct(groupArrayIf(sipHash64(${name}), ${passes})) AS names`}
  FROM records${findsBots && !onlyComputed ? `\n  PREWHERE ${isOfHit}` : ''}
  WHERE ${OF_SITE} AND bot = '' AND records.session_key != ${NO_KEY}
    AND ${nearPeriod(near.skipped !== undefined, visitSpanMs)}${onlyComputed ? `\n    AND records.session_key IN (${computed}${visitsOfBots ? `\n      UNION ALL ${botKeys(near)}` : ''})` : ''}${visitsOfBots && !findsBots && !onlyComputed ? `\n    AND ${isOfHit}` : ''}
  GROUP BY session_key
  HAVING ${IS_SESSION}${visitsOfBots ? '' : ` AND max(${passes})`}
)`;
  const hitValue = ({ scope: kind, sql, ownSql, stampSql }: Dimension): string => {
    if (kind === 'hit') return 'name';
    const joined = `if(visit.session_key = 0, ${ownSql === '' ? "''" : `toString(hit.${ownSql})`}, visit.${sql})`;
    return stampSql === '' ? joined : `if(hit.is_stamped, toString(hit.${stampSql}), ${joined})`;
  };
  const names = `arrayJoin(${isNamedByHits ? 'named' : 'visit'}.names)`;
  const begunName = by?.scope === 'hit' ? `, ${names} AS name` : by === undefined ? '' : `, visit.${by.sql} AS name`;
  // `visit` is on the right, because ClickHouse does not compute the left side if the right side is empty.
  const named = `(
    SELECT session_key, groupUniqArray(sipHash64(name)) AS names FROM hit GROUP BY session_key
  ) AS named
  INNER JOIN visit ON visit.session_key = named.session_key`;
  const joined = ofVisit.map(({ filter, name }) => conditionOf(filter, hitValue(filter.dimension), name, parameters));
  const selectHits = (session: string, stamps: readonly string[], isStamped: string, more: readonly string[]): string =>
    `SELECT ${[`${session} AS session_key`, ...hitColumns, ...stamps, ...(name === '' ? [] : [`${name} AS name`]), `${isStamped} AS is_stamped`].join(', ')}
  FROM records${findsBots ? "\n  PREWHERE bot != ''" : ''}
  WHERE ${[OF_SITE, ROWS_OF_PERIOD, ...hitConditions, ...more].join('\n    AND ')}`;
  const ofPeople = [...(bots === 'apart' ? ["bot = ''"] : []), ...(run === undefined ? [] : [rowsOutside(...run)])];
  // A row of a bot without a visit has its own values, as if they were in a stamp. Slots have no rows of bots.
  const ownStamps = stampColumns.map((column) => {
    const own = visitDimensions.find(({ stampSql }) => stampSql === column)?.ownSql ?? '';
    return `${own === '' ? "''" : own} AS ${column}`;
  });
  const hitSelects = [
    selectHits(sessionKey(near), stampColumns, isStamped, ofPeople),
    ...(bots === 'apart' ? [selectHits('toUInt64(0)', ownStamps, '1', ["bot != ''"])] : []),
  ];
  const tables = `WITH
${[...movedSql(near, parameters), ...visitorLists].map((expression) => `${expression},\n`).join('')}hit AS
(
  ${hitSelects.join('\n  UNION ALL\n  ')}
)${
    scope.withVisits === false && !hasExit
      ? ''
      : `,
visit AS${visitTable(false)}`
  }${
    scope.withVisits === false
      ? ''
      : `,
begun AS
(
  SELECT ${BEGUN_OF_VISIT}${begunName}
  FROM ${isNamedByHits ? named : 'visit'}
  WHERE ${[began, ...(run === undefined ? [] : [`(started_at < fromUnixTimestamp64Milli(${runFrom}) OR started_at >= fromUnixTimestamp64Milli(${runTo}))`])].join('\n    AND ')}
)`
  }`;
  // Rows with a valid stamp do not need their visit. They are joined with the key 0, which no visit has.
  const join = `LEFT JOIN ${usesStamps ? `${visitTable(true)} AS visit` : 'visit'} ON visit.session_key = if(hit.is_stamped, 0, hit.session_key)`;
  return {
    parameters,
    tables,
    hits: `hit${visitDimensions.length > 0 ? ` ${join}` : ''}${joined.length > 0 ? `\n  WHERE ${joined.join(' AND ')}` : ''}`,
    began,
    begunName: by?.scope === 'hit' ? { key: 'begun.name', text: "''" } : nameOfText(by),
    hitValue,
  };
}

const isColumn = (column: string): boolean => column !== '';

/** The hashes of the session IDs, as stored in rows, of the sessions to which rows of bots belong. `computedKeys` has those that have moved. */
function botKeys(near: NearVisits): string {
  return [BOT_KEYS, ...(hasMoved(near) ? ['SELECT arrayJoin(moved_to)'] : [])].join('\n      UNION ALL ');
}
