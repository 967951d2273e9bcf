import { isTokenKept } from '@weir/ports/analytics';
import type { EraseTables } from './erase-task.ts';

/** The columns of a deleted record that its row `erased` or `expired` keeps. */
export const REPLACED_COLUMNS =
  'site_id, received_at, outcome, reason, rule_id, enrichment, log_id, raw_partition, raw_offset';

/**
 * Inserts a row `erased` for each record that will be deleted. Each month is one insert, because one insert must be one block of one
 * table partition. Until the record is deleted, its raw offset (docs/glossary.md) is stored twice; the audit counts these offsets as `erasing`.
 */
export async function putErasedRows(task: EraseTables): Promise<void> {
  const { analytics, database, person, erasureId, change, clock } = task;
  const months = await analytics.select<{ month: number | string }>(
    `SELECT DISTINCT toYYYYMM(received_at) AS month FROM ${database}.records WHERE ${person.records} ORDER BY month`,
  );
  for (const { month } of months.map((row) => ({ month: Number(row.month) }))) {
    const begunAt = await task.begin(month);
    const token = `erased:${erasureId}:${database}:${month}`;
    if (isTokenKept(begunAt, clock())) await change(erasedRows(task, month, '1'), token);
    else await insertRest(task, month, token);
  }
}

/** Inserts the rows of a month that are missing, and then corrects the counts in `books_sums`. */
async function insertRest(task: EraseTables, month: number, token: string): Promise<void> {
  const { database, person, change } = task;
  const place = 'log_id, raw_partition, raw_offset';
  const missing = `(${place}) NOT IN (SELECT ${place} FROM ${database}.records WHERE outcome = 'erased' AND toYYYYMM(received_at) = ${month})`;
  await insertMissing(change, erasedRows(task, month, missing), token);
  // A dead letter of the person can have no site.
  const sites = `'${person.siteId}', ''`;
  await change(booksFix({ database, sites, month, leaving: person.records, until: person.at }));
}

/**
 * Repeats an insert whose first attempt is so old that ClickHouse may have forgotten its token (docs/glossary.md). `statement` inserts only the rows
 * that are missing. The first run uses the token, because another process may still send the first attempt. ClickHouse can also remember the token
 * although it does not have the rows (docs/decisions/0018, or a restore of the tables). The second run is therefore made without the token.
 */
export async function insertMissing(change: EraseTables['change'], statement: string, token: string): Promise<void> {
  await change(statement, token);
  await change(statement);
}

export interface BooksFix {
  readonly database: string;
  /** The site IDs as an SQL list of quoted texts. */
  readonly sites: string;
  readonly month: number;
  /** The condition on records that are about to be removed. */
  readonly leaving: string;
  /** Unix milliseconds. No insert with records that were received before this time is running. */
  readonly until: number;
}

/**
 * Returns the statement that corrects `books_sums`. The statement adds the difference between the number of remaining records and the counts in
 * `books_sums`.
 */
export function booksFix({ database, sites, month, leaving, until }: BooksFix): string {
  const key = 'site_id, minute, outcome, reason, rule_id';
  const own = `site_id IN (${sites})`;
  const early = `minute <= toStartOfMinute(fromUnixTimestamp64Milli(${until}, 'UTC'))`;
  return `INSERT INTO ${database}.books_sums (${key}, records) SELECT ${key}, sum(n) AS difference FROM (
    SELECT site_id, toStartOfMinute(received_at) AS minute, outcome, reason, rule_id, toInt64(count()) AS n
    FROM ${database}.records WHERE ${own} AND toYYYYMM(received_at) = ${month} AND ${early} AND NOT (${leaving})
    GROUP BY ${key}
    UNION ALL
    SELECT ${key}, -toInt64(sum(records)) AS n
    FROM ${database}.books_sums WHERE ${own} AND toYYYYMM(minute) = ${month} AND ${early}
    GROUP BY ${key}
  ) GROUP BY ${key} HAVING difference != 0`;
}

function erasedRows({ database, person }: EraseTables, month: number, further: string): string {
  return `INSERT INTO ${database}.erasures (${REPLACED_COLUMNS}, erased_as) SELECT ${REPLACED_COLUMNS}, 'forgotten' AS erased_as
    FROM ${database}.records WHERE ${person.records} AND toYYYYMM(received_at) = ${month} AND ${further}
    ORDER BY log_id, raw_partition, raw_offset`;
}
