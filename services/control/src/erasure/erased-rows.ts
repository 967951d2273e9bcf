import type { EraseTables } from './erase-task.ts';

/** Within this time after its first attempt, the tables surely remember the token of an insert. */
const TOKEN_KEPT_MS = 10 * 60_000;

/**
 * Inserts the row `erased` of each record that is to be removed, month by month: an insert is one block of one partition. From then on until the
 * record is removed, its raw offset is there twice; the audit counts these as `erasing`.
 */
export async function putErasedRows(task: EraseTables): Promise<void> {
  const { analytics, database, person, clock } = task;
  const months = await analytics.select<{ month: number | string }>(
    `SELECT DISTINCT toYYYYMM(received_at) AS month FROM ${database}.records WHERE ${person.records} ORDER BY month`,
  );
  for (const { month } of months.map((row) => ({ month: Number(row.month) }))) {
    const begunAt = await task.begin(month);
    if (clock() - begunAt < TOKEN_KEPT_MS) await insertMonth(task, month);
    else await insertRest(task, month);
  }
}

function insertMonth(task: EraseTables, month: number): Promise<void> {
  task.assertOwn();
  const token = `erased:${task.erasureId}:${task.database}:${month}`;
  return task.analytics.change(erasedRows(task, month, '1'), token);
}

/** After a long pause the token of the first attempt may be forgotten: looks at what the tables have instead. */
async function insertRest(task: EraseTables, month: number): Promise<void> {
  const { analytics, database, person } = task;
  const records = `${database}.records`;
  const place = 'log_id, raw_partition, raw_offset';
  const there = `SELECT ${place} FROM ${records} WHERE outcome = 'erased' AND toYYYYMM(received_at) = ${month}`;
  task.assertOwn();
  await analytics.change(erasedRows(task, month, `(${place}) NOT IN (${there})`));
  const key = 'site_id, minute, outcome, reason, rule_id';
  const site = `site_id = '${person.siteId}'`;
  task.assertOwn();
  // The difference between the records that will be left and the books.
  await analytics.change(`INSERT INTO ${database}.books_sums (${key}, records) SELECT ${key}, sum(n) AS difference FROM (
    SELECT site_id, toStartOfMinute(received_at) AS minute, outcome, reason, rule_id, count() AS n
    FROM ${records} WHERE ${site} AND toYYYYMM(received_at) = ${month} AND minute <= ${lastMinute(task)} AND NOT (${person.records})
    GROUP BY ${key}
    UNION ALL
    SELECT ${key}, toUInt64(0) - sum(records) AS n
    FROM ${database}.books_sums WHERE ${site} AND toYYYYMM(minute) = ${month} AND minute <= ${lastMinute(task)}
    GROUP BY ${key}
  ) GROUP BY ${key} HAVING difference != 0`);
}

function lastMinute({ person }: EraseTables): string {
  return `toStartOfMinute(fromUnixTimestamp64Milli(${person.at}, 'UTC'))`;
}

function erasedRows({ database, person }: EraseTables, month: number, further: string): string {
  const columns = 'site_id, received_at, outcome, reason, rule_id, enrichment, log_id, raw_partition, raw_offset';
  return `INSERT INTO ${database}.erasures (${columns}, erased_as) SELECT ${columns}, 'forgotten' AS erased_as
    FROM ${database}.records WHERE ${person.records} AND toYYYYMM(received_at) = ${month} AND ${further}
    ORDER BY log_id, raw_partition, raw_offset`;
}
