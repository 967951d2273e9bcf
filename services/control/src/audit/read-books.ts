import type { Analytics } from '@weir/ports/analytics';
import { EXPIRED_IN_ARCHIVE } from '../replay/archive/expired-records.ts';
import type { OutcomeCount, RedrivenBooks, StoredPartition } from './audit-report.ts';

/** The numbers of rows in the table `records`, by partition and by outcome. */
export interface StoredBooks {
  readonly stored: readonly StoredPartition[];
  readonly counts: readonly OutcomeCount[];
}

type AuditRow = StoredPartition & OutcomeCount & { readonly is_books: number };

/**
 * Counts the rows of the table with the name `records` by partition and by outcome. One statement does both, so that both counts
 * show the same moment.
 */
export async function readBooks({ select }: Pick<Analytics, 'select'>, records: string): Promise<StoredBooks> {
  const rows = await select<AuditRow>(
    `SELECT log_id, raw_partition, site_id, toString(outcome) AS outcome, reason, count() AS records,
       uniqExact(raw_offset) AS distinct_offsets, max(raw_offset) AS highest,
       uniqExactIf(raw_offset, outcome IN ('erased', 'expired')) + uniqExactIf(raw_offset, outcome NOT IN ('erased', 'expired'))
         - distinct_offsets AS erasing,
       countIf(outcome = 'expired' AND reason = '${EXPIRED_IN_ARCHIVE}') AS expired_in_archive,
       grouping(raw_partition) AS is_books
     FROM ${records}
     GROUP BY GROUPING SETS ((log_id, raw_partition), (log_id, site_id, outcome, reason))`,
  );
  const counted = rows.map(numbers);
  return {
    stored: counted.filter((row) => row.is_books === 0),
    counts: counted.filter((row) => row.is_books === 1),
  };
}

/**
 * Reads which dead letters were redriven. Call it before `readBooks`: a row that is superseded then also counts as `dead` in the books. (The
 * table `records` is filled before the tables of its views.)
 */
export async function readRedriven({ select }: Pick<Analytics, 'select'>): Promise<RedrivenBooks> {
  const superseded = await select<Omit<OutcomeCount, 'outcome'>>(
    `SELECT log_id, site_id, reason, uniqExact(raw_partition, by_offset) AS records
     FROM dead_letter_attempts
     WHERE outcome = 'dead' AND (log_id, raw_partition, by_offset) NOT IN (
       SELECT log_id, raw_partition, failed_offset FROM dead_letters WHERE redriven_at IS NULL)
     GROUP BY log_id, site_id, reason`,
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
