import type { Analytics } from '@weir/ports/analytics';
import { liveInsertsEnd } from '../erasure/live-and-shadow.ts';
import { dayOf, HOUR_MS } from '../reports/visits/visit-rows.ts';
import { rowsBetween } from '../rows-between.ts';
import { CONTENTS, DAY_FACTS, type DayFact, dayFact, lateNear, NEAR_DAYS } from './built-run.ts';
import { sqlText, sqlTexts } from './property-sql.ts';
import { NO_PROPERTIES, readSlotProperties } from './slot-properties.ts';
import { COUNTED, DAY_MS, insertSlotsSql, type SiteDays, skippedDaysSql } from './slot-sql.ts';

export type BuildTables = Pick<Analytics, 'select' | 'change' | 'runningInsertsEnd'>;

/** A build of more rows is divided into several statements, each of a part of the visits. This limits the memory. */
export const STATEMENT_ROWS_MAX = 200_000;
const DAY_COLUMNS = [
  ...['site_id', 'day', 'build', 'slots', 'hits', 'late'],
  ...['contents', 'property_names', 'properties_left_out', 'lists_properties'],
];

export interface DaysToBuild extends SiteDays {
  /** The number of rows of these days that reports count. */
  readonly rows: number;
}

export interface BuiltDays {
  readonly days: number;
  readonly slots: number;
  /** The days that cannot be built (`skippedDaysSql`), and days that got rows during the build. */
  readonly skipped: readonly string[];
}

export interface BuildContext {
  readonly analytics: BuildTables;
  readonly clock: () => number;
  /** Throws if the rows may have been deleted or exchanged since the build began. */
  readonly assertUnchanged: () => void;
  /** Runs one statement that changes tables. */
  readonly change: (statement: string) => Promise<void>;
}

/**
 * Builds days of a site: inserts their slots (docs/glossary.md), and then their rows in `visit_days`. If the build fails in between, or the process
 * is killed, it leaves slots that no report reads. `removeOldSlots` deletes them. `withProperties`: whether the slots contain custom properties.
 */
export async function buildDays(
  context: BuildContext,
  { rows, ...site }: DaysToBuild,
  withProperties = true,
): Promise<BuiltDays> {
  const { analytics, clock, assertUnchanged, change } = context;
  assertUnchanged();
  // A late row is a row that is stored on a later day than that of its time. The build counts the late rows before it reads the rows. If a late row
  // comes after this count, the build is not valid. A running insert may have counted its late rows before its other rows can be read, so the build
  // waits for the running inserts.
  const facts = await readFacts(analytics, site);
  const late = lateNear(facts);
  await liveInsertsEnd(analytics);
  const skipped = new Set((await analytics.select<{ day: string }>(skippedDaysSql(site))).map(({ day }) => day));
  const days = daysOf(site).filter((day) => !skipped.has(day));
  const firstBuild = nextBuild(facts, clock());
  if (days.length === 0) return { days: 0, slots: 0, skipped: [...skipped] };
  const properties = withProperties ? await readSlotProperties(analytics, site) : NO_PROPERTIES;
  const { included } = properties;
  const shares = Math.max(1, Math.ceil(rows / STATEMENT_ROWS_MAX));
  for (let share = 0; share < shares; share++) {
    assertUnchanged();
    await change(insertSlotsSql({ ...site, days, firstBuild, share, shares, properties: included }));
  }
  const built = await readBuild(analytics, site, firstBuild);
  const counted = await readCounted(analytics, site);
  const entries: string[] = [];
  let allSlots = 0;
  for (const [nth, day] of daysOf(site).entries()) {
    const { slots = 0, hits = 0 } = built.get(day) ?? {};
    if (skipped.has(day)) continue;
    if (hits !== (counted.get(day) ?? 0)) skipped.add(day);
    else {
      const names = properties.ofDay.get(day) ?? [];
      const inSlots = names.filter((name) => included.includes(name));
      const leftOut = names.filter((name) => !included.includes(name));
      const numbers = [firstBuild + nth, slots, hits, late(site.fromMs / DAY_MS + nth), CONTENTS];
      const lists = [sqlTexts(inSlots), sqlTexts(leftOut), properties.isComplete];
      entries.push(`(${[sqlText(site.siteId), `'${day}'`, ...numbers, ...lists].join(', ')})`);
    }
    allSlots += slots;
  }
  if (entries.length === 0) return { days: 0, slots: allSlots, skipped: [...skipped] };
  assertUnchanged();
  await change(`INSERT INTO visit_days (${DAY_COLUMNS.join(', ')}) VALUES ${entries.join(', ')}`);
  return { days: entries.length, slots: allSlots, skipped: [...skipped] };
}

/**
 * Returns the number of a new build: the time in microseconds. If an earlier build has a higher number, because a clock was ahead, the new number is
 * higher than that number. It still depends on the time, so that builds that begin at different times have different numbers.
 */
function nextBuild(facts: readonly DayFact[], now: number): number {
  const last = facts.reduce((highest, { build }) => Math.max(highest, build), 0);
  return now * 1000 > last ? now * 1000 : last + 1 + (now % HOUR_MS) * 1000;
}

/** For each site and each build whose number is a time in the future: when this process first found the build. */
export type FoundAhead = Map<string, ReadonlyMap<string, number>>;

/**
 * Deletes the slots of builds that were replaced or not finished. Builds of the last hour stay, because they may be running. A build also stays for
 * an hour after it was replaced, because a report may have begun to read it. If the number of a build is a time in the future, the hour begins when
 * the build is first found here.
 */
export async function removeOldSlots(
  { analytics, clock, change }: BuildContext,
  siteId: string,
  foundAhead: FoundAhead,
): Promise<number> {
  const current = `SELECT max(build) FROM visit_days WHERE site_id = '${siteId}' GROUP BY day`;
  const hourAgo = (clock() - HOUR_MS) * 1000;
  // The number of a build is a time. Clocks of other processes can be ahead by up to an hour. So a build counts as one of the future only if its
  // number is more than an hour ahead.
  const inAnHour = (clock() + HOUR_MS) * 1000;
  const replacedLately = `SELECT day FROM visit_days WHERE site_id = '${siteId}' GROUP BY day HAVING max(build) BETWEEN ${hourAgo} AND ${inAnHour}`;
  const notCurrent = `site_id = '${siteId}' AND build NOT IN (${current})`;
  const ahead = await analytics.select<{ build: number | string }>(
    `SELECT DISTINCT build FROM visit_slots WHERE ${notCurrent} AND build > ${inAnHour}`,
  );
  const before = foundAhead.get(siteId);
  const found = new Map(ahead.map(({ build }) => [String(build), before?.get(String(build)) ?? clock()]));
  if (found.size > 0) foundAhead.set(siteId, found);
  else foundAhead.delete(siteId);
  const due = [...found].filter(([, at]) => clock() - at >= HOUR_MS).map(([build]) => build);
  const dueBuilds = ['0', ...due].join(', ');
  const old = `${notCurrent} AND (build IN (${dueBuilds}) OR (build < ${hourAgo} AND day NOT IN (${replacedLately})))`;
  const [counted] = await analytics.select<{ slots: number | string }>(
    `SELECT count() AS slots FROM visit_slots WHERE ${old}`,
  );
  const slots = Number(counted?.slots ?? 0);
  if (slots > 0) await change(`ALTER TABLE visit_slots DELETE WHERE ${old}`);
  return slots;
}

/** Reads the facts (`DayFact`) of these days and of the days near them. */
export async function readFacts(
  analytics: Pick<Analytics, 'select'>,
  { siteId, fromMs, toMs }: SiteDays,
): Promise<readonly DayFact[]> {
  const rows = await analytics.select<Readonly<Record<string, unknown>>>(DAY_FACTS, {
    site: siteId,
    first_day: dayOf(fromMs - NEAR_DAYS * DAY_MS),
    last_day: dayOf(toMs + NEAR_DAYS * DAY_MS),
  });
  return rows.map(dayFact);
}

/** The number of rows that reports count, for each day that has such rows. */
export async function readCounted(
  analytics: Pick<Analytics, 'select'>,
  { siteId, fromMs, toMs }: SiteDays,
): Promise<ReadonlyMap<string, number>> {
  const rows = await analytics.select<{ day: string; hits: number | string }>(
    `SELECT toString(toDate(timestamp, 'UTC')) AS day, count() AS hits FROM records
     WHERE ${COUNTED} AND ${rowsBetween('{from:Int64}', '{to:Int64}')}
     GROUP BY day`,
    { site: siteId, from: fromMs, to: toMs },
  );
  return new Map(rows.map(({ day, hits }) => [day, Number(hits)]));
}

async function readBuild(analytics: Pick<Analytics, 'select'>, site: SiteDays, firstBuild: number) {
  const rows = await analytics.select<{ day: string; slots: number | string; hits: number | string }>(
    `SELECT toString(day) AS day, count() AS slots, sumIf(pageviews + events, hits) AS hits FROM visit_slots
     WHERE site_id = {site:String} AND build >= {first:UInt64} AND build < {end:UInt64} GROUP BY day`,
    { site: site.siteId, first: firstBuild, end: firstBuild + daysOf(site).length },
  );
  return new Map(rows.map(({ day, slots, hits }) => [day, { slots: Number(slots), hits: Number(hits) }]));
}

export function daysOf({ fromMs, toMs }: SiteDays): readonly string[] {
  return Array.from({ length: (toMs - fromMs) / DAY_MS }, (_, index) => dayOf(fromMs + index * DAY_MS));
}
