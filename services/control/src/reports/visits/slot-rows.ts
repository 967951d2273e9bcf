import { runConditions } from '../../visit-slots/built-run.ts';
import type { Dimension } from '../dimensions.ts';
import type { Filter } from '../filter.ts';
import { conditionOf, type Parameters } from '../parameters.ts';
import { type AskedScope, filterCondition, namedFilters, type Scope, type SlotRun } from '../report-sql.ts';
import { NO_KEY } from './visit-rows.ts';

/** The scope of a report that reads the days `built` from `visit_slots` instead of `records` (docs/decisions/0047). */

export type SlotScope = Scope & { readonly visits: { readonly of: 'rows'; readonly built: SlotRun } };

export function readsSlots(scope: Scope): scope is SlotScope {
  return scope.visits.of === 'rows' && scope.visits.built !== undefined;
}

/** Pages and event names are in arrays: each slot has several. */
const ARRAYS: Readonly<Record<string, string>> = { page: 'pages', event: 'names' };
const HALF_HOUR_MS = 30 * 60_000;

const isInArray = ({ name }: Dimension): boolean => name in ARRAYS;
const columnOf = ({ name, sql }: Dimension): string => (name === 'origin' ? 'origin' : sql);

/**
 * Whether slots (docs/glossary.md) can answer a report. Slots have no rows of bots, no events of Weir itself and no properties. They cannot count
 * rows with both a certain page and a certain event name, because the arrays of a slot do not say which page an event belongs to. The buckets must
 * begin on half hours of UTC, because a slot has the rows of half an hour.
 */
export function isInSlots(
  { withBots, withInternalEvents = false, filters }: AskedScope,
  by: Dimension | undefined,
  starts: readonly number[] = [],
): boolean {
  const used = dimensionsOf(filters, by);
  return (
    !withBots &&
    !withInternalEvents &&
    used.every(({ property, isOfBots = false }) => property === undefined && !isOfBots) &&
    new Set(used.filter(isInArray).map(({ name }) => name)).size <= 1 &&
    // The first bucket is not checked: it begins with the period, and slots are read only from the first whole UTC day on.
    starts.slice(1).every((start) => start % HALF_HOUR_MS === 0)
  );
}

export function dimensionsOf(filters: readonly Filter[], by: Dimension | undefined): readonly Dimension[] {
  return [...filters.map(({ dimension }) => dimension), ...(by === undefined ? [] : [by])];
}

/** How a statement selects the slots of the days `built` that pass the filters, and SQL of the values of one slot. */
export interface Slots {
  readonly conditions: readonly string[];
  /** If the report needs the elements of the arrays of a slot: ARRAY JOIN and WHERE conditions that give a row for each element. Otherwise empty. */
  readonly elements: { readonly join: string; readonly conditions: readonly string[] };
  /** The value of the dimension of the report. Empty without a dimension. */
  readonly value: string;
  /** An aggregate function that returns the hashes of the values of several slots, each once. */
  readonly valueKeys: string;
  readonly pageviews: string;
  readonly events: string;
  /**
   * Whether the slots of one visit can have different values of the dimension, or can differ in whether they pass the filters. If not, the report
   * can count a visit by any one of its slots.
   */
  readonly differ: boolean;
}

export function slotsOf(scope: SlotScope, by: Dimension | undefined, parameters: Parameters): Slots {
  const { filters } = scope;
  const { built } = scope.visits;
  const named = namedFilters(filters);
  const conditions = [
    ...runConditions(built, parameters),
    ...named
      .filter(({ filter }) => !isInArray(filter.dimension))
      // The name of the table is necessary: the SELECTs of slot-counts.ts define other columns with the name `visitor_key`.
      .map((one) => filterCondition(one, columnOf(one.filter.dimension), 'visit_slots.visitor_key', parameters)),
  ];
  const value = by === undefined ? '' : columnOf(by);
  const slots = {
    conditions,
    elements: { join: '', conditions: [] },
    value,
    valueKeys: `arrayDistinct(groupArray(sipHash64(${value})))`,
    pageviews: 'visit_slots.pageviews',
    events: 'visit_slots.events',
    differ: dimensionsOf(filters, by).some(({ scope }) => scope === 'hit'),
  };
  const inArray = named.filter(({ filter }) => isInArray(filter.dimension));
  const passing = (value: string): readonly string[] =>
    inArray.map(({ filter, name }) => conditionOf(filter, value, name, parameters));
  if (by !== undefined && isInArray(by)) return { ...slots, ...elementsOf(by, passing('each')) };
  if (inArray.length === 0) return slots;
  return { ...slots, ...filteredCounts(inArray[0]?.filter.dimension.name, passing, conditions) };
}

/** The parts of a breakdown by page or event: one row for each element of the arrays of a slot. */
function elementsOf(
  { name }: Dimension,
  passing: readonly string[],
): Pick<Slots, 'elements' | 'value' | 'valueKeys' | 'pageviews' | 'events'> {
  const values = ARRAYS[name] ?? '';
  // Values that do not pass the filters become the hash of the empty value, which a breakdown by page or event never lists.
  const key = passing.length === 0 ? 'sipHash64(each)' : `if(${passing.join(' AND ')}, sipHash64(each), ${NO_KEY})`;
  const join =
    name === 'page'
      ? 'pages AS each, page_views AS each_views, page_events AS each_events'
      : 'names AS each, name_counts AS each_events';
  return {
    elements: { join: `\n  ARRAY JOIN ${join}`, conditions: passing },
    value: 'each',
    valueKeys: `arrayDistinct(groupArrayArray(arrayMap(each -> ${key}, ${values})))`,
    pageviews: name === 'page' ? 'each_views' : 'toUInt32(0)',
    events: 'each_events',
  };
}

/** The conditions and counts for filters on the page or the event name, in a report that is not a breakdown by this dimension. */
function filteredCounts(
  name: string | undefined,
  passing: (value: string) => readonly string[],
  conditions: readonly string[],
): Pick<Slots, 'conditions' | 'pageviews' | 'events'> {
  const values = ARRAYS[name ?? ''] ?? '';
  const passes = passing('each').join(' AND ');
  const sumOf = (numbers: string): string => `arraySum((each, n) -> if(${passes}, n, 0), ${values}, ${numbers})`;
  const anyPasses = `arrayExists(each -> ${passes}, ${values})`;
  if (name === 'page') {
    return { conditions: [...conditions, anyPasses], pageviews: sumOf('page_views'), events: sumOf('page_events') };
  }
  // `names` has no entry for pageviews, whose event name is empty. So the conditions treat pageviews separately: they pass if the empty name passes.
  const emptyPasses = `(${passing("''").join(' AND ')})`;
  return {
    conditions: [...conditions, `(${anyPasses} OR (visit_slots.pageviews > 0 AND ${emptyPasses}))`],
    pageviews: `if(${emptyPasses}, visit_slots.pageviews, 0)`,
    events: sumOf('name_counts'),
  };
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
