import type { Analytics } from '@weir/ports/analytics';
import { redrivenAttempt } from '../dead-letters/letter-filter.ts';
import { EXPIRED_IN_ARCHIVE } from '../replay/archive/expired-records.ts';
import type { OutcomeCount, RedrivenBooks, StoredPartition } from './audit-report.ts';
import type { Condition } from './rows-above.ts';

/** How many rows the table `records` has, by partition and by outcome. */
export interface StoredBooks {
  readonly stored: readonly StoredPartition[];
  readonly counts: readonly OutcomeCount[];
}

const EVERYTHING: Condition = { sql: 'true', params: {} };

type AuditRow = StoredPartition & OutcomeCount & { readonly is_books: number };

/**
 * Counts rows by partition and by outcome: all rows, or those that the condition selects. One statement does both counts, so that they show the
 * same moment. `records`: the name of the table `records`, which can begin with a database.
 */
export async function readBooks(
  { select }: Pick<Analytics, 'select'>,
  records: string,
  { sql, params }: Condition = EVERYTHING,
): Promise<StoredBooks> {
  const rows = await select<AuditRow>(
    `SELECT log_id, raw_partition, site_id, toString(outcome) AS outcome, reason, count() AS records,
       groupBitmap(raw_offset) AS distinct_offsets, max(raw_offset) AS highest,
       groupBitmapIf(raw_offset, outcome IN ('erased', 'expired'))
         + groupBitmapIf(raw_offset, outcome NOT IN ('erased', 'expired')) - distinct_offsets AS erasing,
       countIf(outcome = 'expired' AND reason = '${EXPIRED_IN_ARCHIVE}') AS expired_in_archive,
       grouping(raw_partition) AS is_books
     FROM ${records}
     WHERE ${sql}
     GROUP BY GROUPING SETS ((log_id, raw_partition), (log_id, site_id, outcome, reason))`,
    params,
  );
  const counted = rows.map(numbers);
  return {
    stored: counted.filter((row) => row.is_books === 0),
    counts: counted.filter((row) => row.is_books === 1),
  };
}

/**
 * Counts the rows with the outcome `dead` whose record was redriven (docs/glossary.md): all of them, or those that the condition selects. The
 * condition is on `dead_letter_attempts`, whose column `by_offset` is the raw offset of the row. It does not limit `redrivenTwice`. Call this
 * function before `readBooks`: then `readBooks` also counts the rows of all inserts that were complete when this function began. In the other order,
 * this function could count rows of inserts that `readBooks` had not seen.
 */
export async function readRedriven(
  { select }: Pick<Analytics, 'select'>,
  { sql, params }: Condition = EVERYTHING,
): Promise<RedrivenBooks> {
  const superseded = await select<Omit<OutcomeCount, 'outcome'>>(
    `SELECT log_id, site_id, reason, uniqExact(raw_partition, by_offset) AS records
     FROM dead_letter_attempts
     WHERE ${sql} AND ${redrivenAttempt()}
     GROUP BY log_id, site_id, reason`,
    params,
  );
  const [twice] = await select<{ letters: number | string }>(
    `SELECT count() AS letters FROM (
       SELECT log_id, raw_partition, raw_offset FROM dead_letter_attempts WHERE outcome IN ('row', 'identify')
       GROUP BY log_id, raw_partition, raw_offset HAVING uniqExact(by_offset) > 1)`,
  );
  return {
    superseded: superseded.map((row) => ({ ...numbers(row), outcome: 'redriven' })),
    redrivenTwice: Number(twice?.letters ?? 0),
  };
}

/** ClickHouse may send 64-bit numbers as text. */
function numbers<Row extends object>(row: Row): Row {
  const texts = new Set(['log_id', 'site_id', 'outcome', 'reason']);
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, texts.has(name) ? value : Number(value)]),
  ) as Row;
}
