import { isBetween, rowsBetween } from '../rows-between.ts';
import type { BuiltRun } from '../visit-slots/built-run.ts';
import type { MonthRun } from '../visit-slots/month-run.ts';
import type { Dimension } from './dimensions.ts';
import type { Filter } from './filter.ts';
import { conditionOf, createParameters, type Parameters } from './parameters.ts';
import type { Period } from './period.ts';
import { COUNT_NAMES, type CountName, ESTIMATE_EXACT_MAX, MONTH_EXACT_MAX } from './report-metrics.ts';
import { doneCondition, doneList } from './visits/done-visitors.ts';
import { type NearVisits, NO_KEY, NONE_MOVED, OF_SITE } from './visits/visit-rows.ts';

/** Defines which rows and visits a report counts. */
export interface AskedScope {
  readonly siteId: string;
  readonly period: Period;
  readonly withBots: boolean;
  /** True: the rows include the events of Weir itself, whose names begin with `$`. Only exports set it: no report counts these events. */
  readonly withInternalEvents?: boolean;
  /** False: the report does not count visits. It can still filter and group by dimensions of visits. Default: true. */
  readonly withVisits?: boolean;
  readonly filters: readonly Filter[];
  /**
   * True: the answer shows the statements with their parameters (`explain=1`). The statements then find the moved sessions (docs/glossary.md)
   * themselves. Otherwise the parameters would contain session IDs, which a viewer must not see. Default: false.
   */
  readonly isShown?: boolean;
}

export interface Scope extends AskedScope {
  readonly visits: VisitSource;
}

/** The days of a period that a report reads from `visit_slots`. */
export interface SlotRun extends BuiltRun {
  /** Whether visitors are estimated. Otherwise they are counted exactly. */
  readonly isEstimate: boolean;
  /** The months of this run that the report reads from `visit_months` (docs/decisions/0062). Visitors are then estimated. */
  readonly months?: MonthRun | undefined;
}

/** Where a report takes visits from. The functions of visit-source.ts choose this, except where a report always uses `SESSIONS`. */
export type VisitSource =
  /** From the view `sessions`. */
  | { readonly of: 'sessions' }
  /**
   * From the rows near the period (docs/decisions/0035). If `built` is set, the report reads the days `built` from `visit_slots`, and `near` covers
   * only the days before and after them. `version`: see `PeriodFacts` (period-facts.ts). As long as `version` is the same, reports share the
   * answers of statements about unusual visits. `isChecked`: whether a statement has already searched for visits that continue for more than a day
   * beyond the period. If not, `askWithSource` searches for them. `bots`, for reports with bots (docs/decisions/0058): `apart` if no row of a bot
   * belongs to a visit; `visiting` if rows can, and the report uses dimensions of their visits. Then `askWithSource` also searches for visits of
   * bots that are far from the period.
   */
  | {
      readonly of: 'rows';
      readonly near: NearVisits;
      readonly built?: SlotRun | undefined;
      readonly version?: string | undefined;
      readonly isChecked: boolean;
      readonly bots?: 'apart' | 'visiting' | undefined;
    };
export const SESSIONS: VisitSource = { of: 'sessions' };
/** For a report that uses no visits. Such a report can ignore unusual visits near its period. */
export const ROWS_ALONE = {
  of: 'rows',
  near: { moved: NONE_MOVED, hasUnstamped: false },
  isChecked: true,
} as const satisfies VisitSource;

/** Whether a breakdown can list no value: only rows of bots have one, and the report leaves them out. */
export function isEmptyBreakdown({ withBots }: AskedScope, by: Dimension | undefined): boolean {
  return by?.isOfBots === true && !withBots;
}

/** With more slots (docs/glossary.md) than this, visitors are estimated, unless the request asks for exact numbers. */
export const EXACT_SLOTS_MAX = 8_000_000;

/** The largest number of visitors that a report with this scope counts exactly. */
export function exactVisitorsMax({ visits }: Scope): number {
  if (visits.of !== 'rows' || visits.built?.isEstimate !== true) return Number.POSITIVE_INFINITY;
  return visits.built.months === undefined ? ESTIMATE_EXACT_MAX : MONTH_EXACT_MAX;
}

/** A ClickHouse statement, with the values of its `{name:Type}` parameters. */
export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** SQL fragments from which the statements of the reports on one site are built. */
export interface ReportParts {
  readonly parameters: Parameters;
  /**
   * The text `WITH hit AS (…), visit AS (…), begun AS (…)`. `hit` has the rows of the period that pass the filters on hits, `visit` has the visits
   * of these rows, and `begun` has the counts of the visits that began in the period. Other expressions can be before `hit`. The days that the
   * report reads from `visit_slots` are left out.
   */
  readonly tables: string;
  /** The rows, joined with their visits if the report uses a dimension of visits. */
  readonly hits: string;
  /** The condition for counted visits: they began in the period and pass the filters on dimensions of visits. */
  readonly began: string;
  /**
   * For a breakdown: two SQL expressions over `begun`.
   * - `key` groups the visits by the value of the dimension. For a dimension of rows, it is the hash of the value. For a dimension of visits, it is
   *   the value itself.
   * - `text` is an aggregate function that returns the value, or an empty text if `begun` has only hashes.
   */
  readonly begunName: { readonly key: string; readonly text: string };
  /** The SQL of a dimension's value over `hits`. */
  hitValue(dimension: Dimension): string;
}

const IN_PERIOD = isBetween('{from:Int64}', '{to:Int64}');
/** The condition for rows of the period in the WHERE of a statement that reads `records`, with a hint for the primary key. */
export const ROWS_OF_PERIOD = rowsBetween('{from:Int64}', '{to:Int64}');
const BEGAN_IN_PERIOD = [
  'started_at >= fromUnixTimestamp64Milli({from:Int64})',
  'started_at < fromUnixTimestamp64Milli({to:Int64})',
] as const;
export const HIT_COLUMNS = ['visitor_id', 'visitor_key', 'type', 'timestamp'];
export const VISIT_COLUMNS = ['started_at', 'is_bounce', 'duration_seconds', 'pageviews'];
/** The columns of `begun`, computed from the columns of `visit`. Their sums are the counts of visits. */
export const BEGUN_OF_VISIT =
  'visit.started_at AS started_at, 1 AS visits, toInt64(visit.is_bounce) AS bounces, toInt64(visit.duration_seconds) AS seconds, toInt64(visit.pageviews) AS views';

/** A filter with the name of its parameter. */
export interface NamedFilter {
  readonly filter: Filter;
  readonly name: string;
}

export function namedFilters(filters: readonly Filter[]): readonly NamedFilter[] {
  return filters.map((filter, index) => ({ filter, name: `filter${index}` }));
}

/** What all statements of a scope share: its parameters, and its filters by their kind. */
export interface ScopeSql {
  readonly parameters: Parameters;
  /** The expressions of the WITH clause that `hitConditions` and `filterCondition` use. */
  readonly visitorLists: readonly string[];
  readonly ofVisit: readonly NamedFilter[];
  /** The dimensions of visits that the filters and the report use. */
  readonly visitDimensions: readonly Dimension[];
  /** The conditions for counted rows, except the site and the filters on dimensions of visits. */
  readonly hitConditions: readonly string[];
  /** The condition for counted visits: they began in the period and pass the filters on dimensions of visits. */
  readonly began: string;
}

/** The conditions that each counted row meets, besides the filters of the report. */
function countedConditions({ withBots, withInternalEvents = false }: AskedScope): readonly string[] {
  return [...(withInternalEvents ? [] : ["NOT startsWith(event_name, '$')"]), ...(withBots ? [] : ["bot = ''"])];
}

/**
 * The condition for rows that pass a filter. The filter must not be on a dimension of visits. `column`: the SQL of the value of the row. `visitor`:
 * the SQL of the hash of its visitor.
 */
export function filterCondition(
  { filter, name }: NamedFilter,
  column: string,
  visitor: string,
  parameters: Parameters,
): string {
  const { dimension } = filter;
  return dimension.doneType === undefined
    ? conditionOf(filter, parameters.valueOf(dimension, column), name, parameters)
    : doneCondition(filter, name, visitor);
}

/** `built`: the days that the report reads from `visit_slots`. */
export function scopeSql(scope: AskedScope, by?: Dimension, built?: BuiltRun): ScopeSql {
  const { siteId, period, filters } = scope;
  const parameters = createParameters();
  parameters.put('site', 'String', siteId);
  parameters.put('from', 'Int64', period.fromMs);
  parameters.put('to', 'Int64', period.toMs);
  const named = namedFilters(filters);
  const hitConditions = [
    IN_PERIOD,
    ...countedConditions(scope),
    ...named
      .filter(({ filter }) => filter.dimension.scope === 'hit')
      .map((one) => filterCondition(one, one.filter.dimension.sql, 'visitor_key', parameters)),
  ];
  const visitorLists = named.flatMap(({ filter, name }) => {
    const { doneType } = filter.dimension;
    if (doneType === undefined) return [];
    const counted = [OF_SITE, ROWS_OF_PERIOD, ...countedConditions(scope), `type = '${doneType}'`];
    return [doneList(filter, name, { counted, parameters, built })];
  });
  const ofVisit = named.filter(({ filter }) => filter.dimension.scope === 'visit');
  const visitDimensions = [...ofVisit.map(({ filter }) => filter.dimension), ...(by?.scope === 'visit' ? [by] : [])];
  const began = [
    ...BEGAN_IN_PERIOD,
    ...ofVisit.map(({ filter, name }) => conditionOf(filter, filter.dimension.sql, name, parameters)),
  ].join(' AND ');
  return { parameters, visitorLists, ofVisit, visitDimensions, hitConditions, began };
}

/** The member `begunName` of a report whose column `begun.name` contains values and not hashes. */
export function nameOfText(by: Dimension | undefined): ReportParts['begunName'] {
  const text = 'toString(begun.name)';
  return { key: by?.scope === 'hit' ? `sipHash64(${text})` : text, text: 'toString(any(begun.name))' };
}
/** An aggregate function that counts visitors by their hashes. An estimate has a standard error of 0.3 % (docs/stats.md). */
export function countVisitors(key: string, isEstimate = false): string {
  return `${isEstimate ? 'uniqCombined64If(17)' : 'uniqExactIf'}(${key}, ${key} != ${NO_KEY})`;
}
/**
 * Both constants have all columns of `Counts` (report-metrics.ts). In `COUNT_HITS`, the counts of visits are 0. In `COUNT_VISITS`,
 * the counts of rows are 0.
 */
export const COUNT_HITS =
  `${countVisitors('hit.visitor_key')} AS visitors, 0 AS visits, countIf(type = 'pageview') AS pageviews,\n` +
  "    countIf(type = 'event') AS events, 0 AS bounces, 0 AS seconds, 0 AS views";
export const COUNT_VISITS =
  '0 AS visitors, sum(begun.visits) AS visits, 0 AS pageviews, 0 AS events,\n' +
  '    sum(begun.bounces) AS bounces, sum(begun.seconds) AS seconds, sum(begun.views) AS views';
/** The sums of these columns over a subquery `found`. `visitors`: the expression that counts the visitors, if `found` has their hashes. */
export function sumFound(names: readonly CountName[] = COUNT_NAMES, visitors = 'sum(found.visitors)'): string {
  return names.map((name) => `${name === 'visitors' ? visitors : `sum(found.${name})`} AS ${name}`).join(', ');
}
