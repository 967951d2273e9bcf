import { type Analytics, isTokenKept } from '@weir/ports/analytics';
import type { ExpiryChunk } from '@weir/ports/registry';
import { booksFix, insertMissing, REPLACED_COLUMNS } from '../erasure/erased-rows.ts';
import { KEPT_COLUMNS, keptColumns } from './kept-sessions.ts';

/**
 * The number of raw offsets (docs/glossary.md) in a chunk. The rows with the outcome `expired` of a chunk are one block, which ClickHouse holds in
 * memory.
 */
const CHUNK_OFFSETS = 100_000;

/** The records to expire: either events, or the identify records of profiles. */
export interface ExpiredRows {
  readonly database: string;
  readonly kind: 'events' | 'profiles';
  /** The site IDs as an SQL list of quoted texts. */
  readonly sites: string;
  /** An SQL condition for the rows of `records` that expire. */
  readonly condition: string;
  /** Part of the deduplication tokens, so that each set of records has its own tokens. Each attempt to expire profiles has its own value. */
  readonly token: string;
}

export interface ExpireRows {
  readonly analytics: Analytics;
  readonly clock: () => number;
  readonly startedAt: number;
  /** Runs one statement that changes tables. Rejects if the work must stop, or if another process has taken over the expiry. */
  readonly change: (statement: string, token?: string) => Promise<void>;
  /** The chunk whose insert was begun last, maybe by another process. */
  readonly lastBegun: () => ExpiryChunk | undefined;
  readonly begin: (chunk: ExpiryChunk) => Promise<void>;
}

type Place = Pick<ExpiryChunk, 'month' | 'logId' | 'partition' | 'nth'>;

/**
 * Replaces records by rows with the outcome `expired`, month by month. It first inserts these rows, and then deletes the records. In between, each
 * raw offset is stored twice, and the audit counts these offsets as `erasing`. If the process is killed, call this function again. For profiles,
 * call `endInterrupted` before that.
 */
export async function expireRows(work: ExpireRows, rows: ExpiredRows): Promise<void> {
  const { database, condition, kind, token } = rows;
  const chunks = (
    await work.analytics.select<Record<'log' | 'part' | 'month' | 'nth', string | number>>(
      `SELECT toString(log_id) AS log, raw_partition AS part, toYYYYMM(received_at) AS month, intDiv(raw_offset, ${CHUNK_OFFSETS}) AS nth
       FROM ${database}.records WHERE ${condition} GROUP BY log, part, month, nth`,
    )
  )
    .map((row) => ({
      month: Number(row.month),
      logId: String(row.log),
      partition: Number(row.part),
      nth: Number(row.nth),
    }))
    .sort(inOrder);
  for (const month of new Set(chunks.map((chunk) => chunk.month))) {
    const begun = work.lastBegun();
    // An earlier attempt can have been killed after it inserted missing rows (after a restore of the tables), and before it corrected the counts.
    if (begun?.token === token && begun.month === month && !isTokenKept(begun.at, work.clock())) {
      await work.analytics.runningInsertsEnd(database);
      await fixBooks(work, rows, month);
    }
    for (const place of chunks.filter((one) => one.month === month)) {
      const last = work.lastBegun();
      const isLast = last?.token === token && inOrder(place, last) === 0;
      const isBefore = last?.token === token && last.month === month && inOrder(place, last) < 0;
      // An earlier attempt has inserted the rows `expired` of all chunks before `last`. The records of these chunks are deleted below, with the rest
      // of the month. A row `expired` is missing only if, since then, the tables were restored from a backup or a new log was begun. `at` is then 0,
      // so `putChunk` inserts only the missing rows.
      if (isBefore && !(await lacksRows(work, rows, place))) continue;
      const chunk = isLast ? last : { ...place, token, at: isBefore ? 0 : work.clock() };
      if (!isLast && !isBefore) await work.begin(chunk);
      await putChunk(work, rows, chunk);
    }
    const removed = kind === 'events' ? condition : replacedIdentifies(database, month);
    await work.change(`ALTER TABLE ${database}.records DELETE IN PARTITION ${month} WHERE ${removed}`);
  }
}

/**
 * Selects the identify records that already have a row `expired`. The condition of `expireRows` cannot be used here: a user who was seen again does
 * not match it any more, but some of the user's records can already have such a row.
 */
function replacedIdentifies(database: string, month: number): string {
  return `outcome = 'identify' AND (log_id, raw_partition, raw_offset) IN (
    SELECT log_id, raw_partition, raw_offset FROM ${database}.records
    WHERE outcome = 'expired' AND reason = 'profiles' AND toYYYYMM(received_at) = ${month})`;
}

/**
 * Handles the last insert of profile records that an earlier attempt began. That attempt may have selected other users, so its insert is not
 * repeated. Instead, deletes the records that already have rows `expired`, and corrects the counts of their month. All other records stay.
 */
export async function endInterrupted(
  { analytics, change }: Pick<ExpireRows, 'analytics' | 'change'>,
  { database, sites, before }: Pick<ExpiredRows, 'database' | 'sites'> & { readonly before: number },
  { month }: ExpiryChunk,
): Promise<void> {
  await analytics.runningInsertsEnd(database);
  const leaving = replacedIdentifies(database, month);
  await change(booksFix({ database, sites, month, leaving, until: before }));
  await change(`ALTER TABLE ${database}.records DELETE IN PARTITION ${month} WHERE ${leaving}`);
}

function rowsIn({ month, logId, partition, nth }: Place): string {
  return `log_id = '${logId}' AND raw_partition = ${partition} AND toYYYYMM(received_at) = ${month}
    AND raw_offset >= ${nth * CHUNK_OFFSETS} AND raw_offset < ${(nth + 1) * CHUNK_OFFSETS}`;
}

/** Whether a record of the chunk that expires has no row `expired`. */
async function lacksRows({ analytics }: ExpireRows, { database, condition }: ExpiredRows, chunk: Place) {
  const records = `${database}.records WHERE ${rowsIn(chunk)}`;
  const found = await analytics.select(
    `SELECT 1 FROM ${records} AND ${condition}
     AND raw_offset NOT IN (SELECT raw_offset FROM ${records} AND outcome = 'expired') LIMIT 1`,
  );
  return found.length > 0;
}

async function putChunk(work: ExpireRows, rows: ExpiredRows, chunk: ExpiryChunk): Promise<void> {
  const { analytics, change, clock } = work;
  const { database, condition, kind } = rows;
  const { token, month, logId, partition, nth, at } = chunk;
  const place = rowsIn(chunk);
  const insert = (further: string): string =>
    `INSERT INTO ${database}.expirations (${REPLACED_COLUMNS}, happened_at, expired_as)
     SELECT ${REPLACED_COLUMNS}, least(timestamp, received_at) AS happened_at, '${kind}' AS expired_as
     FROM ${database}.records WHERE ${condition} AND ${place} AND ${further} ORDER BY raw_offset`;
  const name = `${token}:${month}:${logId}:${partition}:${nth}`;
  if (kind === 'events') await change(keepSessions(database, `${condition} AND ${place}`, name));
  const missing = insert(
    `raw_offset NOT IN (SELECT raw_offset FROM ${database}.records WHERE ${place} AND outcome = 'expired')`,
  );
  if (kind === 'profiles') return change(missing, name);
  if (isTokenKept(at, clock())) return change(insert('1'), name);
  await analytics.runningInsertsEnd(database);
  await insertMissing(change, missing, name);
  await fixBooks(work, rows, month);
}

/** Corrects the counts of a month. The records that expire and have a row `expired` do not count any more, as if they were already deleted. */
async function fixBooks(
  { change, startedAt }: Pick<ExpireRows, 'change' | 'startedAt'>,
  { database, condition, sites }: ExpiredRows,
  month: number,
): Promise<void> {
  const leaving = `(${condition}) AND (log_id, raw_partition, raw_offset) IN (
    SELECT log_id, raw_partition, raw_offset FROM ${database}.records WHERE outcome = 'expired' AND toYYYYMM(received_at) = ${month})`;
  await change(booksFix({ database, sites, month, leaving, until: startedAt }));
}

/**
 * The statement that stores in `sessions_kept` what these records add to their sessions, because sessions are kept longer than records. Repeating it
 * changes nothing. Until the records are deleted, the view `sessions` counts their hits twice.
 */
function keepSessions(database: string, records: string, part: string): string {
  return `INSERT INTO ${database}.sessions_kept (${KEPT_COLUMNS})
    SELECT ${keptColumns(`'${part}'`)} FROM ${database}.session_rows AS parts
    WHERE (log_id, raw_partition, raw_offset) IN (SELECT log_id, raw_partition, raw_offset FROM ${database}.records WHERE ${records})
    GROUP BY site_id, made_for, session_id`;
}

function inOrder(a: Place, b: Place): number {
  if (a.month !== b.month) return a.month - b.month;
  if (a.logId !== b.logId) return a.logId < b.logId ? -1 : 1;
  return a.partition - b.partition || a.nth - b.nth;
}
