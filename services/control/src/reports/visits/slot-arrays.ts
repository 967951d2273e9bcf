import type { Dimension } from '../dimensions.ts';
import type { Parameters } from '../parameters.ts';
import { NO_KEY } from './visit-rows.ts';

/**
 * SQL of the dimensions that are in arrays of `visit_slots`: pages, event names and custom properties. A slot can have several values of each. An
 * element of the arrays has a value, and the numbers of the pageviews and events with this value.
 */

/** How a statement selects the slots of the days `built` that pass the filters, and SQL of the values of one slot. */
export interface Slots {
  readonly conditions: readonly string[];
  /** If the report needs the elements of the arrays of a slot: ARRAY JOIN and WHERE conditions that give a row for each element. Otherwise empty. */
  readonly elements: { readonly join: string; readonly conditions: readonly string[] };
  /** The value of the dimension of the report. Empty without a dimension. */
  readonly value: string;
  /** Whether the type of the value is String, and not LowCardinality. */
  readonly isPlainText: boolean;
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

/** The arrays of one dimension. */
export interface SlotArray {
  /** The columns that a lambda needs, each with the name of its argument. `each` is the value. */
  readonly columns: readonly (readonly [column: string, argument: string])[];
  /** The column with the numbers of pageviews. Undefined: no pageview has an element. */
  readonly views: string | undefined;
  readonly events: string;
  /** The condition for the elements of the dimension. Empty: all elements are of this dimension. */
  readonly isOwn: readonly string[];
  /** The condition for slots with elements of the dimension. Empty: all slots can have some. */
  readonly hasOwn: readonly string[];
  /** The numbers of the pageviews and events of a slot that have no element, because their value is empty. */
  readonly rest: { readonly pageviews: string; readonly events: string } | undefined;
}

/** Names the arrays in which a dimension is. Undefined: the dimension is a column of its own. */
export function arrayOf({ name, property }: Dimension): string | undefined {
  return property !== undefined || name === 'page' || name === 'event' ? name : undefined;
}

export function slotArray({ name, property }: Dimension, parameters: Parameters): SlotArray {
  if (property !== undefined) return propertyArray(parameters.putProperty(property));
  if (name === 'page') {
    const columns = [['pages', 'each']] as const;
    return { columns, views: 'page_views', events: 'page_events', isOwn: [], hasOwn: [], rest: undefined };
  }
  // `names` has no element for pageviews, whose event name is empty.
  const rest = { pageviews: 'visit_slots.pageviews', events: '0' };
  return { columns: [['names', 'each']], views: undefined, events: 'name_counts', isOwn: [], hasOwn: [], rest };
}

function propertyArray(name: string): SlotArray {
  const restOf = (all: string, numbers: string): string =>
    `toUInt32(${all} - arraySum((each_name, n) -> if(each_name = ${name}, n, 0), property_names, ${numbers}))`;
  return {
    columns: [
      ['property_names', 'each_name'],
      ['property_values', 'each'],
    ],
    views: 'property_views',
    events: 'property_events',
    isOwn: [`each_name = ${name}`],
    hasOwn: [`has(property_names, ${name})`],
    rest: {
      pageviews: restOf('visit_slots.pageviews', 'property_views'),
      events: restOf('visit_slots.events', 'property_events'),
    },
  };
}

/** `passing`: the conditions of the filters for a value. */
type Passing = (value: string) => readonly string[];

/** The parts of a breakdown by the dimension: one row for each element. */
export function elementsOf(
  { columns, views, events, isOwn, hasOwn }: SlotArray,
  passing: Passing,
): Pick<Slots, 'conditions' | 'elements' | 'value' | 'valueKeys' | 'pageviews' | 'events'> {
  const conditions = [...isOwn, ...passing('each')];
  // Elements that do not count become the hash of the empty value, which a breakdown by page, event or property never lists.
  const key =
    conditions.length === 0 ? 'sipHash64(each)' : `if(${conditions.join(' AND ')}, sipHash64(each), ${NO_KEY})`;
  const joined = [...columns, ...(views === undefined ? [] : [[views, 'each_views']]), [events, 'each_events']];
  return {
    conditions: hasOwn,
    elements: {
      join: `\n  ARRAY JOIN ${joined.map(([column, argument]) => `${column} AS ${argument}`).join(', ')}`,
      conditions,
    },
    value: 'each',
    valueKeys: `arrayDistinct(groupArrayArray(arrayMap(${lambda(columns)} -> ${key}, ${arrays(columns)})))`,
    pageviews: views === undefined ? 'toUInt32(0)' : 'each_views',
    events: 'each_events',
  };
}

/** The conditions and counts for filters on the dimension, in a report that is not a breakdown by it. */
export function filteredCounts(
  { columns, views, events, isOwn, hasOwn, rest }: SlotArray,
  passing: Passing,
): Pick<Slots, 'conditions' | 'pageviews' | 'events'> {
  const passes = [...isOwn, ...passing('each')].join(' AND ');
  const sumOf = (numbers: string | undefined): string =>
    numbers === undefined
      ? '0'
      : `arraySum(${lambda([...columns, [numbers, 'n']])} -> if(${passes}, n, 0), ${arrays(columns)}, ${numbers})`;
  const anyPasses = `arrayExists(${lambda(columns)} -> ${passes}, ${arrays(columns)})`;
  if (rest === undefined) return { conditions: [anyPasses], pageviews: sumOf(views), events: sumOf(events) };
  const emptyPasses = `(${passing("''").join(' AND ')})`;
  const restIf = (numbers: string): string => `if(${emptyPasses}, ${numbers}, 0)`;
  return {
    conditions: [
      ...hasOwn.map((condition) => `(${condition} OR ${emptyPasses})`),
      `(${anyPasses} OR (${emptyPasses} AND ${rest.pageviews} + ${rest.events} > 0))`,
    ],
    pageviews: `${sumOf(views)} + ${restIf(rest.pageviews)}`,
    events: `${sumOf(events)} + ${restIf(rest.events)}`,
  };
}

function lambda(columns: SlotArray['columns']): string {
  const names = columns.map(([, argument]) => argument).join(', ');
  return columns.length === 1 ? names : `(${names})`;
}

const arrays = (columns: SlotArray['columns']): string => columns.map(([column]) => column).join(', ');
