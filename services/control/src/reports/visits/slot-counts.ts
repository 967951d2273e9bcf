import type { Dimension } from '../dimensions.ts';
import type { ReportParts } from '../report-sql.ts';
import { type SlotScope, selectElements, selectSlots, slotsOf } from './slot-rows.ts';
import { NO_KEY } from './visit-rows.ts';

/**
 * This file builds the SELECTs for the counts of a report. They read `visit_slots` for the built days (docs/glossary.md) of the scope, and
 * `records` for the days before and after them (docs/decisions/0047). A visitor can be in both tables, so the report counts visitors only after
 * the UNION ALL.
 */

const UNION = '\n  UNION ALL\n  ';
/** The numbers of a visit, from `begun`. */
const OF_BEGUN = ['visits', 'bounces', 'seconds', 'views'].map((name) => `toUInt32(begun.${name}) AS ${name}`);
const OF_SLOT = ['toUInt32(1) AS visits', 'bounces', 'seconds', 'views'];
/** All slots of a visit with `begun` > 0 have the same values in these columns, so `any` returns the numbers of the visit. */
const OF_VISIT = ['toUInt32(1) AS visits', 'any(bounces)', 'any(seconds)', 'any(views)'];
const NO_VISIT = ['visits', 'bounces', 'seconds', 'views'].map((name) => `toUInt32(0) AS ${name}`);
const HIT_COUNTS = ["toUInt32(hit.type = 'pageview') AS pageviews", "toUInt32(hit.type = 'event') AS events"];
const slotMs = (column: string): string => `toInt64(toUnixTimestamp(${column})) * 1000`;

/** A SELECT of rows with the columns `moment` (Unix milliseconds), `visitor_key`, `pageviews` and `events`. */
export function countedHits(scope: SlotScope, { parameters, hits }: ReportParts): string {
  const slots = slotsOf(scope, undefined, parameters);
  const counts = [`${slots.pageviews} AS pageviews`, `${slots.events} AS events`];
  return [
    `SELECT ${['toUnixTimestamp64Milli(hit.timestamp) AS moment', 'hit.visitor_key AS visitor_key', ...HIT_COUNTS].join(', ')}\n  FROM ${hits}`,
    selectSlots(slots, [`${slotMs('slot')} AS moment`, 'visitor_key', ...counts], 'hits'),
  ].join(UNION);
}

/** A SELECT of rows with the columns `moment`, `visits`, `bounces`, `seconds` and `views`. */
export function countedVisits(scope: SlotScope, { parameters }: ReportParts): string {
  const slots = slotsOf(scope, undefined, parameters);
  const one = [`${slotMs('began')} AS moment`, ...OF_SLOT];
  return [
    `SELECT ${['toUnixTimestamp64Milli(begun.started_at) AS moment', ...OF_BEGUN].join(', ')}\n  FROM begun`,
    selectSlots(slots, one, slots.counted),
    ...(slots.leavesSeveral
      ? [
          `${selectSlots(slots, [`${slotMs('any(began)')} AS moment`, ...OF_VISIT], 'begun > 0', 'several')}\n  GROUP BY session_key`,
        ]
      : []),
  ].join(UNION);
}

/**
 * A SELECT of rows with the columns `value_key` (the hash of the value of the dimension), `has_text`, `value` (empty without `has_text`),
 * `visitor_key` (`NO_KEY` in rows that count only visits), `pageviews`, `events`, `visits`, `bounces`, `seconds` and `views`. The rows with the hits
 * of a value always have its text.
 */
export function countedValues(scope: SlotScope, by: Dimension, { parameters, hits, hitValue }: ReportParts): string {
  const slots = slotsOf(scope, by, parameters);
  const isOfRows = by.scope === 'hit';
  const textOf = (value: string): string => (slots.isPlainText ? value : `toLowCardinality(${value})`);
  const withText = (value: string): readonly string[] => [
    `sipHash64(${value}) AS value_key`,
    'true AS has_text',
    `${textOf(`toString(${value})`)} AS value`,
  ];
  const withoutText = (key: string): readonly string[] => [
    `${key} AS value_key`,
    'false AS has_text',
    `${textOf("''")} AS value`,
  ];
  const none = [`${NO_KEY} AS visitor_key`, 'toUInt32(0) AS pageviews', 'toUInt32(0) AS events'];
  const { withVisits = true } = scope;
  const { counted } = slots;
  const one = [
    ...withText(slots.value),
    `if(hits, visitor_key, ${NO_KEY}) AS visitor_key`,
    `if(hits, ${slots.pageviews}, 0) AS pageviews`,
    `if(hits, ${slots.events}, 0) AS events`,
    ...(withVisits
      ? [
          `toUInt32(${counted}) AS visits`,
          ...['bounces', 'seconds', 'views'].map((name) => `if(${counted}, visit_slots.${name}, 0) AS ${name}`),
        ]
      : NO_VISIT),
  ];
  const ofVisit = isOfRows ? withoutText(`arrayJoin(${slots.valueKeys})`) : withText(`any(${slots.value})`);
  return [
    `SELECT ${[...withText(hitValue(by)), 'hit.visitor_key AS visitor_key', ...HIT_COUNTS, ...NO_VISIT].join(', ')}\n  FROM ${hits}`,
    ...(withVisits
      ? [
          `SELECT ${[...(isOfRows ? withoutText('begun.name') : withText('begun.name')), ...none, ...OF_BEGUN].join(', ')}\n  FROM begun`,
        ]
      : []),
    selectElements(slots, one, withVisits ? `(hits OR ${counted})` : 'hits'),
    ...(withVisits && slots.leavesSeveral
      ? [`${selectSlots(slots, [...ofVisit, ...none, ...OF_VISIT], 'begun > 0', 'several')}\n  GROUP BY session_key`]
      : []),
  ].join(UNION);
}
