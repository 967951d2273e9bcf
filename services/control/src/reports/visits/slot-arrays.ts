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
   * An SQL condition. A slot, or an element of its arrays, that meets this condition also counts its visit. For each visit and value, at most one
   * slot or element meets it.
   */
  readonly counted: string;
  /** Whether no slot of the visits with several slots (`several`) meets `counted`. Another SELECT then counts these visits, grouped by session. */
  readonly leavesSeveral: boolean;
}

/** The arrays of one dimension, as SQL expressions over a slot. */
export interface SlotArray {
  readonly values: string;
  /** The numbers of pageviews. Undefined: no pageview has an element. */
  readonly views: string | undefined;
  readonly events: string;
  /** The condition for slots with elements of the dimension. Empty: all slots can have some. */
  readonly hasElements: readonly string[];
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
    return { values: 'pages', views: 'page_views', events: 'page_events', hasElements: [], rest: undefined };
  }
  // `names` has no element for pageviews, whose event name is empty.
  const rest = { pageviews: 'visit_slots.pageviews', events: '0' };
  return { values: 'names', views: undefined, events: 'name_counts', hasElements: [], rest };
}

/** The elements of one property are next to each other, because the build sorts the elements by property and value. */
function propertyArray(name: string): SlotArray {
  const part = (column: string): string =>
    `arraySlice(${column}, indexOf(property_names, ${name}), countEqual(property_names, ${name}))`;
  // With values of the type LowCardinality, ClickHouse 26.7 refuses some conditions ("Invalid cast from LowCardinality(UInt8) to native type").
  const values = `CAST(${part('property_values')}, 'Array(String)')`;
  const [views, events] = [part('property_views'), part('property_events')];
  return {
    ...{ values, views, events, hasElements: [`has(property_names, ${name})`] },
    rest: {
      pageviews: `toUInt32(visit_slots.pageviews - arraySum(${views}))`,
      events: `toUInt32(visit_slots.events - arraySum(${events}))`,
    },
  };
}

/** `passing`: the conditions of the filters for a value. */
type Passing = (value: string) => readonly string[];

/** The parts of a breakdown by the dimension: one row for each element. `more`: other arrays that have a value for each element. */
export function elementsOf(
  { values, views, events, hasElements }: SlotArray,
  passing: Passing,
  more: readonly string[] = [],
): Pick<Slots, 'conditions' | 'elements' | 'value' | 'valueKeys' | 'pageviews' | 'events'> {
  const conditions = passing('each');
  // Values that do not pass the filters become the hash of the empty value, which a breakdown by page, event or property never lists.
  const key =
    conditions.length === 0 ? 'sipHash64(each)' : `if(${conditions.join(' AND ')}, sipHash64(each), ${NO_KEY})`;
  const joined = [
    `${values} AS each`,
    ...more,
    ...(views === undefined ? [] : [`${views} AS each_views`]),
    `${events} AS each_events`,
  ];
  return {
    conditions: hasElements,
    elements: { join: `\n  ARRAY JOIN ${joined.join(', ')}`, conditions },
    value: 'each',
    valueKeys: `arrayDistinct(groupArrayArray(arrayMap(each -> ${key}, ${values})))`,
    pageviews: views === undefined ? 'toUInt32(0)' : 'each_views',
    events: 'each_events',
  };
}

/** The conditions and counts for filters on the dimension, in a report that is not a breakdown by it. */
export function filteredCounts(
  { values, views, events, hasElements, rest }: SlotArray,
  passing: Passing,
): Pick<Slots, 'conditions' | 'pageviews' | 'events'> {
  const passes = passing('each').join(' AND ');
  const sumOf = (numbers: string): string => `arraySum((each, n) -> if(${passes}, n, 0), ${values}, ${numbers})`;
  const anyPasses = `arrayExists(each -> ${passes}, ${values})`;
  const viewsOf = views === undefined ? [] : [sumOf(views)];
  if (rest === undefined) return { conditions: [anyPasses], pageviews: viewsOf.join(), events: sumOf(events) };
  const emptyPasses = `(${passing("''").join(' AND ')})`;
  const restIf = (numbers: string): string => `if(${emptyPasses}, ${numbers}, 0)`;
  return {
    conditions: [
      ...hasElements.map((condition) => `(${condition} OR ${emptyPasses})`),
      `(${anyPasses} OR (${emptyPasses} AND ${rest.pageviews} + ${rest.events} > 0))`,
    ],
    pageviews: [...viewsOf, restIf(rest.pageviews)].join(' + '),
    events: `${sumOf(events)} + ${restIf(rest.events)}`,
  };
}
