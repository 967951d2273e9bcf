import type { Parameters } from '../reports/parameters.ts';
import type { Period } from '../reports/period.ts';
import { dayOf } from '../reports/visits/visit-rows.ts';
import type { ReportTables } from '../steady-tables.ts';
import { coversProperties } from './property-sql.ts';
import { DAY_MS } from './slot-sql.ts';

/** Consecutive UTC days of a site whose slots (docs/glossary.md) are valid. A report reads these days from `visit_slots` instead of their rows. */
export interface BuiltRun {
  /** The start of the first day and the end of the last one, in Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The values of the column `build` in the slots of these days. Slots with other values are out of date. */
  readonly builds: readonly number[];
  readonly slots: number;
  /** Whether all of these slots have the array `page_visits`. */
  readonly hasPageVisits: boolean;
}

/** The SQL conditions that select the slots of these days. */
export function runConditions({ fromMs, toMs, builds }: BuiltRun, parameters: Parameters): readonly string[] {
  const [first, end] = [dayOf(fromMs), dayOf(toMs)];
  return [
    'site_id = {site:String}',
    `day >= ${parameters.put('run_first', 'Date', first)} AND day < ${parameters.put('run_end', 'Date', end)}`,
    `build IN ${parameters.put('builds', 'Array(UInt64)', builds)}`,
  ];
}

/**
 * A fact about a day. `build`: its slots were built. `late`: rows were stored on a later day than that of their time. `flag`: a visit was flagged
 * (`FLAGS`). `month`: see `MONTHS` (month-run.ts). The other kinds are explained in period-facts.ts.
 */
export interface DayFact {
  readonly kind: 'build' | 'late' | 'flag' | 'month' | 'moved' | 'expired' | 'unstamped';
  /** Days since 1970. */
  readonly day: number;
  readonly build: number;
  readonly slots: number;
  readonly hits: number;
  readonly late: number;
  /** For the kind `build`: what the slots contain (`CONTENTS`). */
  readonly contents: number;
}

/** The lowest value of `visit_days.contents` of builds whose slots have the array `page_visits`. */
const WITH_PAGE_VISITS = 2;
export const hasPageVisits = ({ contents }: DayFact): boolean => contents >= WITH_PAGE_VISITS;
/** The value of `visit_days.contents` of new builds. Builds with a lower value are replaced in the background. */
export const CONTENTS = WITH_PAGE_VISITS;

/**
 * A late row up to this many days before or after a day can change the visits of the day. A visit of a built day has rows on at most two days, and
 * the late row can extend the visit to a third day.
 */
export const NEAR_DAYS = 2;

/**
 * A day is closed, and can be built, when it began at least this many days before the present day (UTC). Rows of the next two days can change its
 * visits, so these days must be over. One more day is a margin for inserts that are running. A row of these days that is stored after the build makes
 * it invalid.
 */
export const CLOSED_AFTER_DAYS = 4;
/** The newest closed day by the clock of ClickHouse. The view `late_rows_fill` decides by the same clock which rows are late. */
export const LAST_CLOSED_DAY = `(toDate(now(), 'UTC') - ${CLOSED_AFTER_DAYS})`;

export const DAYS = 'site_id = {site:String} AND day >= {first_day:Date} AND day <= {last_day:Date}';
/**
 * Statements that select the builds of the closed days, and the numbers of late rows. If a clock was ahead, a day can have a build before it is
 * closed. Such a build is not selected: rows that are stored on the day itself are not late, so they do not make the build invalid.
 */
const buildsHaving = (having: string): readonly string[] => [
  `SELECT 'build' AS kind, day, max(visit_days.build) AS build, argMax(visit_days.slots, visit_days.build) AS slots,
    argMax(visit_days.hits, visit_days.build) AS hits, argMax(visit_days.late, visit_days.build) AS late, argMax(visit_days.contents, visit_days.build) AS contents
  FROM visit_days WHERE ${DAYS} AND day <= ${LAST_CLOSED_DAY} GROUP BY day${having}`,
  `SELECT 'late' AS kind, day, 0 AS build, 0 AS slots, 0 AS hits, sum(rows) AS late, 0 AS contents FROM late_rows WHERE ${DAYS} GROUP BY day`,
];
const BUILDS = buildsHaving('');
/** Like `BUILDS`, but selects only builds that can answer reports on the custom properties `{properties:Array(String)}`. */
const BUILDS_OF_PROPERTIES = buildsHaving(
  `\n  HAVING argMax(${coversProperties('{properties:Array(String)}')}, visit_days.build)`,
);
/** `properties`: the names of the custom properties that the report uses. */
export const buildsFor = (properties: readonly string[]): readonly string[] =>
  properties.length === 0 ? BUILDS : BUILDS_OF_PROPERTIES;
export const propertyValues = (properties: readonly string[]): Readonly<Record<string, unknown>> =>
  properties.length === 0 ? {} : { properties };
/**
 * Days with a visit that a check, an erasure or retention has added to `visits_computed`. A visit that is in `visits_computed` only because of the
 * stamps (docs/glossary.md) of its own rows does not count.
 */
const FLAGS = `SELECT DISTINCT 'flag' AS kind, day, 0 AS build, 0 AS slots, 0 AS hits, 0 AS late, 0 AS contents FROM
  (
    SELECT day FROM visits_computed WHERE ${DAYS}
    GROUP BY day, session_id HAVING NOT min(by_row)
  )`;

/** Combines statements that select facts (`DayFact`) into one. */
export const selectFacts = (facts: readonly string[]): string => `
SELECT kind, toUInt32(day) AS day, build, slots, hits, late, contents FROM
(
  ${facts.join('\n  UNION ALL\n  ')}
)`;

const FACTS: readonly string[] = [...BUILDS, FLAGS];
/** Selects the facts of the days from `{first_day:Date}` to `{last_day:Date}`. */
export const DAY_FACTS = selectFacts(FACTS);
/** Like `DAY_FACTS`, with further facts. */
export const dayFactsWith = (more: readonly string[]): string => selectFacts([...FACTS, ...more]);

/**
 * Resolves with the longest run of days with valid builds in the period. The run ends at least a day before the end of the period, so that the period
 * has all rows of the visits that began in the run. A build is valid until, within `NEAR_DAYS` of its day, a row is stored late or a visit is
 * flagged.
 */
export async function builtRun(
  siteId: string,
  period: Period,
  analytics: Pick<ReportTables, 'userQuery'>,
  properties: readonly string[] = [],
): Promise<BuiltRun | undefined> {
  const { rows } = await analytics.userQuery(selectFacts([...buildsFor(properties), FLAGS]), {
    site: siteId,
    ...propertyValues(properties),
    first_day: dayOf(period.fromMs - NEAR_DAYS * DAY_MS),
    last_day: dayOf(period.toMs + NEAR_DAYS * DAY_MS),
  });
  return runOf(rows.map(dayFact), period);
}

/** Like `builtRun`, but computes the run from given facts: those of the days of the period, and of `NEAR_DAYS` before and after it. */
export function runOf(facts: readonly DayFact[], period: Period): BuiltRun | undefined {
  const { first, end } = daysInside(period);
  return end <= first ? undefined : longestRun(validBuilds(facts), first, end);
}

export function canHaveRun(period: Period): boolean {
  const { first, end } = daysInside(period);
  return first < end;
}

function daysInside({ fromMs, toMs }: Period): { readonly first: number; readonly end: number } {
  return { first: Math.ceil(fromMs / DAY_MS), end: Math.floor(toMs / DAY_MS) - 1 };
}

/** The builds that are valid, by day. */
export function validBuilds(facts: readonly DayFact[]): ReadonlyMap<number, DayFact> {
  const late = lateNear(facts);
  const flagged = new Set(facts.filter(({ kind }) => kind === 'flag').map(({ day }) => day));
  const isFlagged = (day: number): boolean => near(day).some((other) => flagged.has(other));
  return new Map(
    facts
      .filter((fact) => fact.kind === 'build' && fact.late === late(fact.day) && !isFlagged(fact.day))
      .map((fact) => [fact.day, fact]),
  );
}

export function lateNear(facts: readonly DayFact[]): (day: number) => number {
  const late = new Map(facts.filter(({ kind }) => kind === 'late').map((fact) => [fact.day, fact.late]));
  return (day) => near(day).reduce((sum, other) => sum + (late.get(other) ?? 0), 0);
}

function near(day: number): readonly number[] {
  return Array.from({ length: 2 * NEAR_DAYS + 1 }, (_, index) => day - NEAR_DAYS + index);
}

/** ClickHouse may send 64-bit numbers as text. */
export function dayFact(row: Readonly<Record<string, unknown>>): DayFact {
  const { kind, day, build, slots, hits, late, contents } = row;
  const numbers = {
    day: Number(day),
    build: Number(build),
    slots: Number(slots),
    hits: Number(hits),
    late: Number(late),
    contents: Number(contents),
  };
  return { kind: kind as DayFact['kind'], ...numbers };
}

function longestRun(valid: ReadonlyMap<number, DayFact>, first: number, end: number): BuiltRun | undefined {
  let best = { from: 0, to: 0 };
  for (let from = first; from < end; from++) {
    let to = from;
    while (to < end && valid.has(to)) to += 1;
    if (to - from > best.to - best.from) best = { from, to };
    from = Math.max(from, to);
  }
  if (best.to === best.from) return undefined;
  const days = Array.from({ length: best.to - best.from }, (_, index) => valid.get(best.from + index) as DayFact);
  return {
    fromMs: best.from * DAY_MS,
    toMs: best.to * DAY_MS,
    builds: [...new Set(days.map(({ build }) => build))],
    slots: days.reduce((sum, { slots }) => sum + slots, 0),
    hasPageVisits: days.every(hasPageVisits),
  };
}
