import { runConditions } from '../../visit-slots/built-run.ts';
import { type MonthRun, monthEnds } from '../../visit-slots/month-run.ts';
import { isPlainName } from '../../visit-slots/property-sql.ts';
import type { Dimension } from '../dimensions.ts';
import type { Filter } from '../filter.ts';
import { conditionOf, type Parameters } from '../parameters.ts';
import { type AskedScope, filterCondition, namedFilters, type Scope, type SlotRun } from '../report-sql.ts';
import { arrayOf, elementsOf, filteredCounts, type Slots, slotArray } from './slot-arrays.ts';

/** The scope of a report that reads the days `built` from `visit_slots` instead of `records` (docs/decisions/0047). */

export type SlotScope = Scope & { readonly visits: { readonly of: 'rows'; readonly built: SlotRun } };

export function readsSlots(scope: Scope): scope is SlotScope {
  return scope.visits.of === 'rows' && scope.visits.built !== undefined;
}

const EACH_VISITS = 'each_visits';
const HALF_HOUR_MS = 30 * 60_000;

const columnOf = ({ name, sql }: Dimension): string => (name === 'origin' ? 'origin' : sql);
/** Dimensions with so many values that grouping their plain texts is faster than grouping values of the type LowCardinality. */
const VISIT_PATHS: ReadonlySet<string> = new Set(['entry', 'exit']);

/**
 * Whether slots (docs/glossary.md) can answer a report, except for the rows of bots, which it reads from `records`. Slots have no rows of bots, and
 * no events of Weir itself. So they cannot list the visitors who have done something as a bot. They cannot count rows with both a certain page and a
 * certain event name or custom property, because the arrays of a slot do not say which page an event or a property belongs to. The buckets must begin
 * on half hours of UTC, because a slot has the rows of half an hour. The slots of a day may have no values of a property: `readPeriodFacts` finds out
 * which days have them (`propertiesOf`).
 */
export function isInSlots(
  { withBots, withInternalEvents = false, filters }: AskedScope,
  by: Dimension | undefined,
  starts: readonly number[] = [],
): boolean {
  const used = dimensionsOf(filters, by);
  return (
    !withInternalEvents &&
    !(withBots && used.some(({ doneType }) => doneType !== undefined)) &&
    used.every(({ property, isOfBots = false }) => !isOfBots && (property === undefined || isPlainName(property))) &&
    new Set(used.map(arrayOf).filter((array) => array !== undefined)).size <= 1 &&
    // The first bucket is not checked: it begins with the period, and slots are read only from the first whole UTC day on.
    starts.slice(1).every((start) => start % HALF_HOUR_MS === 0)
  );
}

export function dimensionsOf(filters: readonly Filter[], by: Dimension | undefined): readonly Dimension[] {
  return [...filters.map(({ dimension }) => dimension), ...(by === undefined ? [] : [by])];
}

/** The names of the custom properties that a report uses. */
export function propertiesOf(filters: readonly Filter[], by: Dimension | undefined): readonly string[] {
  const names = dimensionsOf(filters, by).flatMap(({ property }) => (property === undefined ? [] : [property]));
  return [...new Set(names)];
}

export function slotsOf(scope: SlotScope, by: Dimension | undefined, parameters: Parameters): Slots {
  const { filters } = scope;
  const { built } = scope.visits;
  const named = namedFilters(filters);
  const conditions = [
    ...runConditions(built, parameters),
    ...(built.months === undefined ? [] : [outsideMonths(built.months, parameters)]),
    ...named
      .filter(({ filter }) => arrayOf(filter.dimension) === undefined)
      // The name of the table is necessary: the SELECTs of slot-counts.ts define other columns with the name `visitor_key`.
      .map((one) => filterCondition(one, columnOf(one.filter.dimension), 'visit_slots.visitor_key', parameters)),
  ];
  const isVisitPath = by !== undefined && VISIT_PATHS.has(by.name);
  const value = by === undefined ? '' : isVisitPath ? `CAST(${columnOf(by)}, 'String')` : columnOf(by);
  const slots = {
    conditions,
    elements: { join: '', conditions: [] },
    value,
    isPlainText: isVisitPath || (by !== undefined && arrayOf(by) !== undefined),
    valueKeys: `arrayDistinct(groupArray(sipHash64(${value})))`,
    pageviews: 'visit_slots.pageviews',
    events: 'visit_slots.events',
    ...countingOf(scope, by),
  };
  const inArray = named.filter(({ filter }) => arrayOf(filter.dimension) !== undefined);
  const passing = (value: string): readonly string[] =>
    inArray.map(({ filter, name }) => conditionOf(filter, value, name, parameters));
  const dimension = by !== undefined && arrayOf(by) !== undefined ? by : inArray[0]?.filter.dimension;
  if (dimension === undefined) return slots;
  const array = slotArray(dimension, parameters);
  const more = slots.counted === EACH_VISITS ? [`page_visits AS ${EACH_VISITS}`] : [];
  const ofArray = dimension === by ? elementsOf(array, passing, more) : filteredCounts(array, passing);
  return { ...slots, ...ofArray, conditions: [...conditions, ...ofArray.conditions] };
}

/** The names of the parameters with the ends of the months. */
function putMonths(months: MonthRun, parameters: Parameters): readonly [first: string, end: string] {
  const [first, end] = monthEnds(months);
  return [parameters.put('months_first', 'Date', first), parameters.put('months_end', 'Date', end)];
}

function outsideMonths(months: MonthRun, parameters: Parameters): string {
  const [first, end] = putMonths(months, parameters);
  return `(day < ${first} OR day >= ${end})`;
}

/** A SELECT of the rows of these months in `visit_months` for a dimension. */
export function selectMonths(
  months: MonthRun,
  by: Dimension,
  columns: readonly string[],
  parameters: Parameters,
): string {
  const [first, end] = putMonths(months, parameters);
  return selectFrom('visit_months', columns, [
    'site_id = {site:String}',
    `dimension = ${parameters.put('dimension', 'String', by.name)}`,
    `month >= ${first} AND month < ${end}`,
    `build IN ${parameters.put('month_builds', 'Array(UInt64)', months.builds)}`,
  ]);
}

/**
 * Decides which slots count their visit. For each visit, one slot has `begun` = 2. The other slots of the day on which the visit began have 1.
 *
 * - Only dimensions of visits: the slot with `begun` = 2 counts the visit, because all slots of a visit have the same values.
 * - A breakdown by page without filters on other dimensions of rows: `page_visits` says for each page which slot counts the visit. A filter on pages
 *   leaves out a page in all slots or in none. A breakdown that counts no visits (`withVisits` is false) does not read this array.
 * - Otherwise, the slots of a visit can have different values, and a filter can leave out some of them. So visits with several slots are grouped by
 *   session.
 */
function countingOf(
  { filters, visits, withVisits = true }: SlotScope,
  by: Dimension | undefined,
): Pick<Slots, 'counted' | 'leavesSeveral'> {
  const ofRows = dimensionsOf(filters, by).filter(({ scope }) => scope === 'hit');
  if (ofRows.length === 0) return { counted: 'begun = 2', leavesSeveral: false };
  const isOfPages = by?.name === 'page' && ofRows.every(({ name }) => name === 'page');
  if (isOfPages && withVisits && visits.built.hasPageVisits) return { counted: EACH_VISITS, leavesSeveral: false };
  return { counted: '(begun > 0 AND NOT several)', leavesSeveral: true };
}

/** A SELECT of these columns from the slots that also match the conditions `more`. */
export function selectSlots({ conditions }: Slots, columns: readonly string[], ...more: readonly string[]): string {
  return selectFrom('visit_slots', columns, [...conditions, ...more]);
}

/** Like `selectSlots`, but if the report needs the elements of the arrays of slots, selects one row for each element. */
export function selectElements(
  { conditions, elements }: Slots,
  columns: readonly string[],
  ...more: readonly string[]
): string {
  return selectFrom(`visit_slots${elements.join}`, columns, [...conditions, ...elements.conditions, ...more]);
}

function selectFrom(from: string, columns: readonly string[], conditions: readonly string[]): string {
  return `SELECT ${columns.join(', ')}\n  FROM ${from}\n  WHERE ${conditions.join('\n    AND ')}`;
}
