import type { Dimension } from './dimensions.ts';
import type { Filter } from './filter.ts';
import { conditionOf, createParameters, type Parameters } from './parameters.ts';
import type { Period } from './period.ts';

/** Defines which rows and visits a report counts. */
export interface Scope {
  readonly siteId: string;
  readonly period: Period;
  readonly withBots: boolean;
  /** Includes the events of Weir itself, whose names begin with `$`. No report counts them. */
  readonly withInternalEvents?: boolean;
  readonly filters: readonly Filter[];
}

/** A ClickHouse statement, with the values of its `{name:Type}` parameters. */
export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** SQL fragments that the statements of all reports are built from. */
export interface ReportParts {
  readonly parameters: Parameters;
  /** The text `WITH hit AS (…), visit AS (…)`: the rows of the period that pass the filters on hits, and their visits. */
  readonly tables: string;
  /** The rows, joined with their visits if the report uses a dimension of visits. */
  readonly hits: string;
  /** The condition for counted visits: they began in the period and pass the filters. */
  readonly began: string;
  /** The SQL of a dimension's value over `hits`. */
  hitValue(dimension: Dimension): string;
}

export const IN_PERIOD =
  'timestamp >= fromUnixTimestamp64Milli({from:Int64}) AND timestamp < fromUnixTimestamp64Milli({to:Int64})';
const HIT_COLUMNS = ['session_id', 'visitor_id', 'type', 'timestamp'];
const VISIT_COLUMNS = ['session_id', 'started_at', 'is_bounce', 'duration_seconds', 'pageviews'];

/**
 * A filter on a dimension of hits selects rows. A filter on a dimension of visits selects visits and, with them, their rows.
 * The statement reads `sessions` only for the session IDs of these rows. `sessions` is ordered by these IDs, so that a report
 * does not merge the whole history of the site. `columns`: further columns of `hit`.
 */
export function reportParts(scope: Scope, by?: Dimension, columns: readonly string[] = []): ReportParts {
  const { siteId, period, withBots, withInternalEvents = false, filters } = scope;
  const parameters = createParameters();
  parameters.put('site', 'String', siteId);
  parameters.put('from', 'Int64', period.fromMs);
  parameters.put('to', 'Int64', period.toMs);
  const named = filters.map((filter, index) => ({ filter, name: `filter${index}` }));
  const ofVisit = named.filter(({ filter }) => filter.dimension.scope === 'visit');
  const visitDimensions = [...ofVisit.map(({ filter }) => filter.dimension), ...(by?.scope === 'visit' ? [by] : [])];
  const isJoined = visitDimensions.length > 0;
  const hitValue = ({ scope, sql, ownSql }: Dimension): string =>
    scope === 'hit' ? 'name' : `if(visit.session_id = '', ${ownSql === '' ? "''" : `hit.${ownSql}`}, visit.${sql})`;

  const hitConditions = [
    'site_id = {site:String}',
    IN_PERIOD,
    ...(withInternalEvents ? [] : ["NOT startsWith(event_name, '$')"]),
    ...(withBots ? [] : ["bot = ''"]),
    ...named
      .filter(({ filter }) => filter.dimension.scope === 'hit')
      .map(({ filter, name }) =>
        conditionOf(filter, parameters.valueOf(filter.dimension, filter.dimension.sql), name, parameters),
      ),
  ];
  const hitColumns = [
    ...new Set([
      ...HIT_COLUMNS,
      ...columns,
      ...visitDimensions.map(({ ownSql }) => ownSql).filter((column) => column !== ''),
    ]),
    ...(by?.scope === 'hit' ? [`${parameters.valueOf(by, by.sql)} AS name`] : []),
  ];
  const visitColumns = [...new Set([...VISIT_COLUMNS, ...visitDimensions.map(({ sql }) => sql)])];
  const tables = `WITH
hit AS
(
  SELECT ${hitColumns.join(', ')}
  FROM events
  WHERE ${hitConditions.join('\n    AND ')}
),
visit AS
(
  SELECT ${visitColumns.join(', ')}
  FROM sessions
  WHERE site_id = {site:String} AND session_id IN (SELECT session_id FROM hit)
)`;
  const joined = ofVisit.map(({ filter, name }) => conditionOf(filter, hitValue(filter.dimension), name, parameters));
  const began = [
    'started_at >= fromUnixTimestamp64Milli({from:Int64})',
    'started_at < fromUnixTimestamp64Milli({to:Int64})',
    ...ofVisit.map(({ filter, name }) => conditionOf(filter, filter.dimension.sql, name, parameters)),
  ];
  return {
    parameters,
    tables,
    hits: `hit${isJoined ? ' LEFT JOIN visit ON visit.session_id = hit.session_id' : ''}${joined.length > 0 ? `\n  WHERE ${joined.join(' AND ')}` : ''}`,
    began: began.join(' AND '),
    hitValue,
  };
}

/** The columns of `Counts`: those from the rows and those from the visits. `SUM_FOUND` adds both. */
export const COUNT_HITS =
  "uniqExactIf(hit.visitor_id, hit.visitor_id != '') AS visitors, 0 AS visits, countIf(type = 'pageview') AS pageviews,\n" +
  "    countIf(type = 'event') AS events, 0 AS bounces, 0 AS seconds, 0 AS views";
export const COUNT_VISITS =
  '0 AS visitors, count() AS visits, 0 AS pageviews, 0 AS events,\n' +
  '    countIf(visit.is_bounce) AS bounces, sum(visit.duration_seconds) AS seconds, sum(visit.pageviews) AS views';
export const SUM_FOUND = ['visitors', 'visits', 'pageviews', 'events', 'bounces', 'seconds', 'views']
  .map((name) => `sum(found.${name}) AS ${name}`)
  .join(', ');
