import { refillTable } from '../refill-table.ts';
import type { EraseTables } from './erase-task.ts';
import { putErasedRows } from './erased-rows.ts';

const PROFILE = "JSONExtractString(detail, 'profile_id')";
const CUSTOMER = "JSONExtractString(detail, 'payment_customer_id')";

/**
 * Deletes the erased records from all tables of one database, and inserts a row `erased` for each of them. It can be repeated after a crash: it
 * first deletes the rows that views made from the records, and deletes the records last, so a repeat finds the same records.
 */
export async function eraseTables(task: EraseTables): Promise<void> {
  // The rows of a running insert do not become visible in all tables at once. After this wait, the rows that views made from the person's records
  // are visible too. No such rows are added later: the enrichers already apply the erasure.
  await task.analytics.runningInsertsEnd(task.database);
  const outlived = await outlivedRows(task);
  for (const [table, condition, first] of derived(task, outlived)) await remove(task, table, condition, first);
  // An insert that was running can contain records of other persons. The deletions above can have removed rows that views made from these records,
  // while the records were not visible yet. After this wait, the refill below can read them.
  await task.analytics.runningInsertsEnd(task.database);
  // A build of `visit_slots` that began before the erasure may insert rows until the wait ends, so these rows are removed after the wait. No build
  // begins during an erasure.
  await invalidateBuilds(task);
  await removeMonths(task);
  await removeSlots(task);
  for (const [view, table, rows] of shared(task)) await refill(task, view, table, rows);
  await flagVisits(task);
  await putErasedRows(task);
  await remove(task, 'records', task.person.records);
}

/**
 * Returns the tables whose rows are made from records. Each table has a condition for the rows to delete: those made from erased records, and those
 * made from records of the person that have expired (`outlived`). Such a row can also contain data of other persons. `first`: the rows that a
 * statement of its own must delete first, because their condition reads other rows of the same table that are deleted too.
 */
function derived(
  { database, person }: EraseTables,
  outlived: OutlivedRows,
): readonly (readonly [table: string, condition: string, first?: string | undefined])[] {
  const made = (columns: string, select: string, where: string) =>
    madeFrom({ database, person }, columns, select, where);
  const ofProfile = (columns: string, select: string, owner = 'profile_id'): string =>
    `(${person.isProfile(owner)} OR ${made(columns, select, "outcome = 'identify'")})`;
  const own = (condition: string) => `site_id = '${person.siteId}' AND ${condition}`;
  const profile = own(ofProfile('profile_id', PROFILE));
  // In `dead_letter_attempts`, only rows with the outcome `dead` have an error and a payload. The other rows have only positions in the log. They
  // show that a dead letter was redriven (docs/glossary.md), and this letter can stay. So they are deleted only if the whole site is erased.
  const letter = person.whole ? '1' : "outcome = 'dead'";
  return [
    ['dead_letter_attempts', made('log_id, raw_partition, by_offset', 'log_id, raw_partition, raw_offset', letter)],
    ['payments_log', made('site_id, event_id', 'site_id, event_id', "outcome = 'row' AND source = 'server'")],
    [
      'people_seen',
      own(`(${made('visitor_id, user_id', 'visitor_id, user_id', "outcome = 'row'")} OR ${outlived.people})`),
    ],
    [
      'visits_computed',
      own(
        `(${made('session_id', 'session_id', "outcome = 'row' AND session_id != ''")} OR session_id IN
        (SELECT session_id FROM ${database}.sessions_kept WHERE ${own(outlived.sessions)}))`,
      ),
    ],
    // Deleted after `visits_computed`, because the condition of `visits_computed` reads `sessions_kept`.
    [
      'sessions_kept',
      own(`(${made('session_id', 'session_id', "outcome = 'row' AND session_id != ''")} OR ${outlived.sessions})`),
      // ClickHouse can evaluate a condition once for each data part. A single statement could then miss rows whose visits it has already deleted.
      outlived.serverEvents === undefined ? undefined : own(outlived.serverEvents),
    ],
    ['moved_hours', own(`(${made('visitor_id', 'visitor_id', "outcome = 'row'")} OR ${outlived.hours})`)],
    ['links_latest', profile],
    ['links_log', profile],
    ['profiles_latest', profile],
    ['profile_values', profile],
    ['payment_links', own(ofProfile('payment_customer_id', CUSTOMER, 'finalizeAggregation(owner).2'))],
  ];
}

interface OutlivedRows {
  readonly sessions: string;
  /** Those of `sessions` that have only server events. Undefined if their condition reads no other rows. */
  readonly serverEvents?: string;
  readonly people: string;
  readonly hours: string;
}

/**
 * Returns conditions on the person's rows in `sessions_kept`, `people_seen` and `moved_hours` whose events have already expired: these tables can
 * keep rows for longer than events.
 */
async function outlivedRows({ analytics, database, person }: EraseTables): Promise<OutlivedRows> {
  const [expired] = await analytics.select<{ until: number | string }>(
    `SELECT toUnixTimestamp64Milli(max(timestamp)) AS until FROM ${database}.records
     WHERE site_id = '${person.siteId}' AND outcome = 'expired' AND reason = 'events' HAVING count() > 0`,
  );
  if (expired === undefined) return { sessions: '0', people: '0', hours: '0' };
  const until = `fromUnixTimestamp64Milli(${Number(expired.until)}, 'UTC')`;
  const visitor = "if(made_for != '', made_for, splitByChar('\\0', first.2)[1])";
  const seen = `(${person.isVisitor('visitor_id', 'first_seen_at')} OR ${person.isUser('user_id')})`;
  const visits = `(visited AND started_at <= ${until} AND ${person.isVisitor(visitor, 'started_at')})`;
  // A row with only server events (`visited` is false) has no time and maybe no visitor. It belongs to the person if the hits of its session do.
  const ofVisits = `(made_for, session_id) IN (SELECT made_for, session_id FROM ${database}.sessions_kept WHERE site_id = '${person.siteId}' AND ${visits})`;
  const serverEvents = `(NOT visited AND ${person.whole ? '1' : ofVisits})`;
  return {
    sessions: `(${visits} OR ${serverEvents})`,
    ...(person.whole ? {} : { serverEvents }),
    people: `(first_seen_at <= ${until} AND ${seen})`,
    hours: `(hour <= ${until} AND ${person.isVisitor('visitor_id', "toDateTime64(hour, 3, 'UTC')")})`,
  };
}

/**
 * Returns the tables to fill again, because deleted rows can also contain data of other persons. Each has the view that fills it, and a condition
 * on the records from which it is filled. `identified` and `identities` store no rows: other views fill the tables of profiles and links from them.
 */
function shared({ database, person }: EraseTables): readonly (readonly [view: string, table: string, rows: string])[] {
  const same = (columns: string, outcome: 'row' | 'identify'): string =>
    `(${columns}) IN (SELECT ${columns} FROM ${database}.records WHERE ${person.records} AND outcome = '${outcome}')`;
  const ofProfile = `outcome = 'identify' AND ${same(PROFILE, 'identify')}`;
  const ofCustomer = `outcome = 'identify' AND ${CUSTOMER} != '' AND ${same(CUSTOMER, 'identify')}`;
  return [
    ['people_seen_fill', 'people_seen', `outcome = 'row' AND ${same('visitor_id, user_id', 'row')}`],
    ['moved_hours_fill', 'moved_hours', `outcome = 'row' AND ${same('visitor_id', 'row')}`],
    ['identified_fill', 'identified', ofProfile],
    ['identities_fill', 'identities', `(${ofProfile} OR ${ofCustomer})`],
  ];
}

/**
 * Removes the days of the erased records, and the days next to them, from the list of days that reports read from `visit_slots`
 * (docs/decisions/0047). Reports read the rows of these days until the days are built again.
 */
async function invalidateBuilds({ analytics, database, person, change }: EraseTables): Promise<void> {
  const where = `site_id = '${person.siteId}' AND day IN (${nearDays({ database, person })})`;
  const [built] = await analytics.select(`SELECT 1 FROM ${database}.visit_days WHERE ${where} LIMIT 1`);
  if (built === undefined) return;
  await change(`ALTER TABLE ${database}.visit_days DELETE WHERE ${where}`);
}

/**
 * Removes the sums of the months of these days: their values can be pages of the person. First the rows which say that a build is complete, so that
 * no report reads a part of a build (`areKept` in month-run.ts). Weir builds these months again, from the slots of days that are built again.
 */
async function removeMonths({ analytics, database, person, change }: EraseTables): Promise<void> {
  const where = `site_id = '${person.siteId}' AND month IN (SELECT toStartOfMonth(day) FROM (${nearDays({ database, person })}))`;
  const [found] = await analytics.select(`SELECT 1 FROM ${database}.visit_months WHERE ${where} LIMIT 1`);
  if (found === undefined) return;
  await change(`ALTER TABLE ${database}.visit_months DELETE WHERE ${where} AND dimension = ''`);
  await change(`ALTER TABLE ${database}.visit_months DELETE WHERE ${where}`);
}

/**
 * Removes the slots (docs/glossary.md) of the visitors of erased records, but only on the days that `invalidateBuilds` removes from the list of
 * built days. A slot can also contain data of another person: several persons can share a visitor ID, and all rows without a visitor have the same
 * `visitor_key`. Weir builds only these days again, so slots of other persons on other days would be lost.
 */
async function removeSlots(task: EraseTables): Promise<void> {
  const ofVisitor = madeFrom(task, 'visitor_key', 'visitor_key', "outcome = 'row'");
  await remove(
    task,
    'visit_slots',
    `site_id = '${task.person.siteId}' AND day IN (${nearDays(task)}) AND ${ofVisitor}`,
  );
}

/** The condition for rows made from erased records: `columns` of the row equal `select` of an erased record. */
function madeFrom(
  { database, person }: Pick<EraseTables, 'database' | 'person'>,
  columns: string,
  select: string,
  where: string,
): string {
  return `(${columns}) IN (SELECT ${select} FROM ${database}.records WHERE ${person.records} AND ${where})`;
}

/** Selects the UTC days of the erased records, and the days before and after them: a visit can have slots on these days too. */
const nearDays = ({ database, person }: Pick<EraseTables, 'database' | 'person'>): string =>
  `SELECT toDate(timestamp, 'UTC') + arrayJoin([-1, 0, 1]) AS day FROM ${database}.records WHERE ${person.records} AND outcome = 'row'`;

async function remove(task: EraseTables, table: string, condition: string, first?: string): Promise<void> {
  const { analytics, database, change, count } = task;
  const [found] = await analytics.select<{ rows: number | string }>(
    `SELECT count() AS rows FROM ${database}.${table} WHERE ${condition}`,
  );
  const rows = Number(found?.rows ?? 0);
  await count(table, rows);
  if (rows === 0) return;
  if (first !== undefined) await change(`ALTER TABLE ${database}.${table} DELETE WHERE ${first}`);
  await change(`ALTER TABLE ${database}.${table} DELETE WHERE ${condition}`);
}

/** Fills a table again from those records that match `rows` and are not erased. */
async function refill(task: EraseTables, view: string, table: string, rows: string): Promise<void> {
  const { person } = task;
  const stay = `site_id = '${person.siteId}' AND ${rows} AND NOT (${person.records})`;
  await refillTable(task, view, table, stay);
}

/**
 * Flags the visits of which only some rows are erased. Reports then compute these visits from their rows, because the sums of the remaining stamps
 * (docs/glossary.md) would be wrong (docs/decisions/0033).
 */
async function flagVisits({ database, person, change }: EraseTables): Promise<void> {
  const erased = `SELECT session_id FROM ${database}.records WHERE ${person.records} AND outcome = 'row' AND session_id != ''`;
  await change(
    `INSERT INTO ${database}.visits_computed (site_id, day, session_id)
     SELECT DISTINCT site_id, toDate(timestamp, 'UTC'), session_id FROM ${database}.records
     WHERE site_id = '${person.siteId}' AND outcome = 'row' AND bot = '' AND session_id IN (${erased}) AND NOT (${person.records})`,
  );
}
