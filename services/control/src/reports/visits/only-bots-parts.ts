import type { Dimension } from '../dimensions.ts';
import type { Filter } from '../filter.ts';
import { conditionOf } from '../parameters.ts';
import { type AskedScope, HIT_COLUMNS, nameOfText, type ReportParts, ROWS_OF_PERIOD, scopeSql } from '../report-sql.ts';
import { OF_SITE } from './visit-rows.ts';

/**
 * The parts of a report that counts only rows of bots, none of which belongs to a visit (`findBotVisits` in bot-visits.ts). For the dimensions of
 * visits, such a row has its own values.
 */
export function onlyBotsParts(scope: AskedScope, by: Dimension | undefined, columns: readonly string[]): ReportParts {
  const { parameters, visitorLists, ofVisit, visitDimensions, hitConditions, began } = scopeSql(scope, by);
  const own = visitDimensions.map(({ ownSql }) => ownSql).filter((column) => column !== '');
  const hitColumns = [
    ...new Set([...HIT_COLUMNS, ...columns, ...own]),
    ...(by?.scope === 'hit' ? [`${parameters.valueOf(by, by.sql)} AS name`] : []),
  ];
  const hitValue = ({ scope: kind, ownSql }: Dimension): string =>
    kind === 'hit' ? 'name' : ownSql === '' ? "''" : `toString(hit.${ownSql})`;
  const begunName = by?.scope === 'hit' ? 'toUInt64(0)' : "''";
  const tables = `WITH
${visitorLists.map((expression) => `${expression},\n`).join('')}hit AS
(
  SELECT ${hitColumns.join(', ')}
  FROM records
  WHERE ${[OF_SITE, ROWS_OF_PERIOD, "bot != ''", ...hitConditions].join('\n    AND ')}
),
begun AS
(
  SELECT toDateTime64(0, 3, 'UTC') AS started_at, 0 AS visits, 0 AS bounces, 0 AS seconds, 0 AS views, ${begunName} AS name
  WHERE false
)`;
  const conditions = ofVisit.map(({ filter, name }) =>
    conditionOf(filter, hitValue(filter.dimension), name, parameters),
  );
  return {
    parameters,
    tables,
    hits: `hit${conditions.length > 0 ? `\n  WHERE ${conditions.join(' AND ')}` : ''}`,
    began,
    begunName: by?.scope === 'hit' ? { key: 'begun.name', text: "''" } : nameOfText(by),
    hitValue,
  };
}

/**
 * Whether a report counts only rows of bots: it is a breakdown by `bot` or `bot_reason`, or one of its filters is on such a dimension and no row of a
 * person passes it.
 */
export function countsOnlyBots(filters: readonly Filter[], by: Dimension | undefined): boolean {
  return by?.isOfBots === true || filters.some((filter) => filter.dimension.isOfBots === true && !passesEmpty(filter));
}

/** Whether the empty value passes the filter. Only `is` and `is_not` can have an empty value. */
function passesEmpty({ operator, values }: Filter): boolean {
  switch (operator) {
    case 'is':
      return values.includes('');
    case 'is_not':
      return !values.includes('');
    case 'contains':
      return false;
    case 'contains_not':
      return true;
    case 'matches':
      return values.some(isAny);
    case 'matches_not':
      return !values.some(isAny);
  }
}

/** Whether a glob matches the empty text. */
const isAny = (glob: string): boolean => /^\**$/.test(glob);
