import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { auditReport, type OutcomeCount, type StoredPartition } from '../audit/audit-report.ts';
import type { AdminDeps } from '../control-deps.ts';
import { ok, type Reply } from '../http/admin-reply.ts';

// A single statement, so that rows and outcomes are counted at the same moment. `records` has one row for each row of `events`
// and `outcomes`.
const AUDIT = `SELECT log_id, raw_partition, site_id, toString(outcome) AS outcome, reason, count() AS records,
  uniqExact(raw_offset) AS distinct_offsets, max(raw_offset) AS highest,
  uniqExactIf(raw_offset, outcome = 'erased') + uniqExactIf(raw_offset, outcome != 'erased') - distinct_offsets AS erasing, grouping(raw_partition) AS is_books
FROM records
GROUP BY GROUPING SETS ((log_id, raw_partition), (log_id, site_id, outcome, reason))`;

type AuditRow = StoredPartition & OutcomeCount & { readonly is_books: number };

/**
 * Reports whether every raw record has exactly one outcome, and whether the numbers of received and processed records agree.
 */
export async function audit({ tables, eventLog, registry }: AdminDeps): Promise<Reply> {
  // Read before and after the counts: an erasure may begin or end meanwhile.
  const isErasing = () => registry.erasures().some(({ phase }) => phase === 'deleting');
  const wasErasing = isErasing();
  const rows = (await tables.read(({ select }) => select<AuditRow>(AUDIT))).map(numbers);
  const positions = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
  const stored = rows.filter((row) => row.is_books === 0);
  const counts = rows.filter((row) => row.is_books === 1);
  return ok(auditReport(eventLog.logId, positions, stored, counts, wasErasing || isErasing()));
}

/** ClickHouse may send 64-bit numbers as text. */
function numbers<Row extends object>(row: Row): Row {
  const texts = new Set(['log_id', 'site_id', 'outcome', 'reason']);
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, texts.has(name) ? value : Number(value)]),
  ) as Row;
}
