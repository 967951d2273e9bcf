import { randomUUID } from 'node:crypto';
import type { Expiry } from '@weir/ports/registry';
import { refillTable } from '../refill-table.ts';
import { type ExpireRows, endInterrupted, expireRows } from './expired-rows.ts';

/** The number of profiles that one round of statements removes. */
const PROFILES_PER_PAGE = 20_000;

export interface ExpireTables extends ExpireRows {
  readonly expiry: Expiry;
  readonly logId: string;
  /** The database of the live tables, or of the shadow tables (docs/glossary.md) of a replay. */
  readonly database: string;
}

export async function hasExpired(
  task: Pick<ExpireTables, 'analytics' | 'expiry' | 'logId' | 'database'>,
): Promise<boolean> {
  const { analytics, database, expiry } = task;
  for (const [table, condition] of [['records', eventsOf(task)] as const, ...simpleTables(task)]) {
    if (condition === undefined) continue;
    const found = await analytics.select(`SELECT 1 FROM ${database}.${table} WHERE ${condition} LIMIT 1`);
    if (found.length > 0) return true;
  }
  return expiry.before.profiles !== undefined && (await quietProfiles(task, 1)).length > 0;
}

export async function expireTables(task: ExpireTables): Promise<void> {
  const { database, expiry, change } = task;
  const { expiryId, before } = expiry;
  const sites = sitesOf(expiry);
  const condition = eventsOf(task);
  const token = `${expiryId}:${database}`;
  const interrupted = task.lastBegun();
  if (before.profiles !== undefined && interrupted?.token.startsWith(`${token}:profiles:`)) {
    await endInterrupted(task, { database, sites, before: before.profiles }, interrupted);
  }
  const partlyExpired = partlyExpiredVisits(task);
  if (partlyExpired !== undefined) await change(partlyExpired);
  if (condition !== undefined)
    await expireRows(task, { database, sites, condition, kind: 'events', token: `${token}:events` });
  if (before.profiles !== undefined) {
    for (let page = await quietProfiles(task); page.length > 0; page = await quietProfiles(task)) {
      await expireProfiles(task, page, `${token}:profiles:${randomUUID()}`);
      await refillProfiles(task, `received_at >= ${time(before.profiles)}`);
    }
    // Refills once more, because an earlier attempt can have been killed between its deletes and its refill.
    await refillProfiles(task, '1');
  }
  for (const [table, where] of simpleTables(task)) {
    if (where !== undefined) await change(`ALTER TABLE ${database}.${table} DELETE WHERE ${where}`);
  }
}

/** Returns a condition for records that were stored before the expiry began. Later records can expire in the next expiry. */
function stored({ expiry, logId }: Pick<ExpireTables, 'expiry' | 'logId'>): string {
  return `(log_id != '${logId}' OR raw_offset < [${expiry.ends.join(', ')}][raw_partition + 1])`;
}

function sitesOf({ siteIds }: Expiry): string {
  return siteIds.map((siteId) => `'${siteId}'`).join(', ');
}

const time = (ms: number): string => `fromUnixTimestamp64Milli(${ms}, 'UTC')`;

function eventsOf(task: Pick<ExpireTables, 'expiry' | 'logId'>): string | undefined {
  const { events } = task.expiry.before;
  if (events === undefined) return undefined;
  return `site_id IN (${sitesOf(task.expiry)}) AND (timestamp < ${time(events)} OR received_at < ${time(events)})
    AND outcome NOT IN ('identify', 'erased', 'expired') AND ${stored(task)}`;
}

/**
 * The statement that inserts into `visits_computed` the visits of which only some rows expire. Reports then compute these visits from their rows,
 * because the sums of the remaining stamps (the columns `visit_…` of the rows) would be wrong (docs/decisions/0033).
 */
function partlyExpiredVisits({ database, expiry }: Pick<ExpireTables, 'database' | 'expiry'>): string | undefined {
  const { events } = expiry.before;
  if (events === undefined) return undefined;
  const at = time(events);
  // A visit whose stamps can be used lasts at most 24 hours. The 25th hour is a reserve.
  return `INSERT INTO ${database}.visits_computed (site_id, day, session_id)
    SELECT DISTINCT site_id, toDate(timestamp, 'UTC'), session_id FROM ${database}.event_rows
    WHERE site_id IN (${sitesOf(expiry)}) AND visit_stamp = 1 AND visit_started < ${at}
      AND timestamp >= ${at} AND timestamp < ${at} + INTERVAL 25 HOUR`;
}

/**
 * The tables from which expired rows are simply deleted, each with the condition for these rows. The condition is undefined if no row of the table
 * expires.
 */
function simpleTables({
  database,
  expiry,
}: Pick<ExpireTables, 'database' | 'expiry'>): readonly (readonly [table: string, condition: string | undefined])[] {
  const { events, profiles, rollups } = expiry.before;
  const where = (before: number | undefined, condition: (time: string) => string): string | undefined =>
    before === undefined ? undefined : `site_id IN (${sitesOf(expiry)}) AND ${condition(time(before))}`;
  return [
    ['payments_log', where(events, (at) => `(timestamp < ${at} OR received_at < ${at})`)],
    ['dead_letter_attempts', where(events, (at) => `received_at < ${at}`)],
    [
      'people_seen',
      where(
        profiles,
        (at) =>
          `(site_id, visitor_id, user_id) IN (SELECT site_id, visitor_id, user_id FROM ${database}.people_seen
           WHERE site_id IN (${sitesOf(expiry)}) GROUP BY site_id, visitor_id, user_id HAVING max(last_seen_at) < ${at})`,
      ),
    ],
    [
      'sessions_kept',
      where(rollups, (at) => `(visited AND ended_at < ${at} OR ${lacksHits({ database, expiry }, at)})`),
    ],
    // A visit can end up to two days after the day of its row in `visits_computed`. So the row stays two days longer.
    ['visits_computed', where(rollups, (at) => `day < toDate(${at}) - 2`)],
    // Slots (docs/glossary.md) contain hashes of visitors, so the slots of days with expired rows are deleted. Visits of the next two days can have
    // lost rows, so the builds of these days are not valid any more.
    ['visit_slots', where(events, (at) => `day <= toDate(${at})`)],
    ['visit_days', where(events, (at) => `day <= toDate(${at}) + 2`)],
    // The builds of months with such days. First the rows which say that a build is complete (`areKept` in month-run.ts).
    ['visit_months', where(events, (at) => `month <= toDate(${at}) + 2 AND dimension = ''`)],
    ['visit_months', where(events, (at) => `month <= toDate(${at}) + 2`)],
    ['late_rows', where(rollups, (at) => `day < toDate(${at}) - 2`)],
    ['moved_hours', where(rollups, (at) => `hour < ${at} - INTERVAL 2 DAY`)],
  ];
}

/**
 * A condition for rows of `sessions_kept` that have only server events (`visited` is false). These have no time, but can have the ID of a visitor. So
 * they expire when no hits of their session are left, neither in `sessions_kept` nor in `records`. The sets contain hashes, so that they are small.
 */
function lacksHits({ database, expiry }: Pick<ExpireTables, 'database' | 'expiry'>, at: string): string {
  const sites = `site_id IN (${sitesOf(expiry)})`;
  const key = 'sipHash64(session_id)';
  const kept = (condition: string): string =>
    `SELECT site_id, ${key} FROM ${database}.sessions_kept WHERE ${sites} AND ${condition}`;
  return `NOT visited AND (site_id, ${key}) NOT IN (
    ${kept(`visited AND ended_at >= ${at} AND (site_id, ${key}) IN (${kept('NOT visited')})`)}
    UNION ALL SELECT site_id, session_key FROM ${database}.records
    WHERE ${sites} AND outcome = 'row' AND source != 'server' AND (site_id, session_key) IN (${kept('NOT visited')}))`;
}

/** Selects the IDs of profiles that have expired: since the time limit, neither the user nor a visitor that is linked to the user was seen. */
async function quietProfiles(
  { analytics, database, expiry }: Pick<ExpireTables, 'analytics' | 'database' | 'expiry'>,
  limit = PROFILES_PER_PAGE,
): Promise<readonly string[]> {
  const sites = `site_id IN (${sitesOf(expiry)})`;
  const at = time(expiry.before.profiles ?? 0);
  const rows = await analytics.select<{ id: string }>(
    `SELECT profile_id AS id FROM (
       SELECT site_id, profile_id, any(user_id) AS user, max(last_seen_at) AS seen
       FROM ${database}.profiles_latest WHERE ${sites} GROUP BY site_id, profile_id
     ) WHERE seen < ${at}
       AND (site_id, user) NOT IN (SELECT site_id, user_id FROM ${database}.people_seen WHERE ${sites} AND last_seen_at >= ${at})
       AND (site_id, profile_id) NOT IN (
         SELECT site_id, profile_id FROM ${database}.links WHERE ${sites} AND (site_id, visitor_id) IN (
           SELECT site_id, visitor_id FROM ${database}.people_seen WHERE ${sites} AND last_seen_at >= ${at}))
     ORDER BY id LIMIT ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Removes profiles. Deletes from `profiles_latest` last: if the process is killed before that, the next attempt finds the
 * profiles in this table again.
 */
async function expireProfiles(task: ExpireTables, page: readonly string[], token: string): Promise<void> {
  const { database, expiry, change } = task;
  const profiles = page.map((id) => `'${id}'`).join(', ');
  const condition = `site_id IN (${sitesOf(expiry)}) AND outcome = 'identify' AND JSONExtractString(detail, 'profile_id') IN (${profiles})
    AND received_at < ${time(expiry.before.profiles ?? 0)} AND ${stored(task)}`;
  await expireRows(task, { database, sites: sitesOf(expiry), condition, kind: 'profiles', token });
  const own = `site_id IN (${sitesOf(expiry)}) AND profile_id IN (${profiles})`;
  const owned = `site_id IN (${sitesOf(expiry)}) AND finalizeAggregation(owner).2 IN (${profiles})`;
  for (const [table, where] of [
    ['links_latest', own],
    ['links_log', own],
    ['profile_values', own],
    ['payment_links', owned],
    ['profiles_latest', own],
  ] as const) {
    await change(`ALTER TABLE ${database}.${table} DELETE WHERE ${where}`);
  }
}

/**
 * Fills the tables of profiles again from the identify records that were stored after the expiry began. This is necessary because a user can be
 * identified while the user's profile is being deleted. `expireProfiles` then also deletes rows of this new record.
 */
async function refillProfiles(task: ExpireTables, further: string): Promise<void> {
  const { analytics, database, expiry, change } = task;
  // Waits for running inserts: the deletions can have removed rows that such an insert has added to these tables, although its rows in `records`
  // cannot be read yet.
  await analytics.runningInsertsEnd(database);
  const later = `site_id IN (${sitesOf(expiry)}) AND outcome = 'identify' AND NOT ${stored(task)} AND ${further}`;
  const refilling = { analytics, database, change: (statement: string) => change(statement) };
  await refillTable(refilling, 'identified_fill', 'identified', later);
  await refillTable(refilling, 'identities_fill', 'identities', later);
}
