import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { auditReport } from '../audit/audit-report.ts';
import { readBooks, readRedriven } from '../audit/read-books.ts';
import type { AdminDeps } from '../control-deps.ts';
import { ok, type Reply } from '../http/admin-reply.ts';
import { isRemovingRows } from '../retention/tables-in-use.ts';

/**
 * Reports whether every raw record has exactly one outcome, and whether the numbers of received and processed records agree.
 */
export async function audit({ tables, eventLog, registry }: AdminDeps): Promise<Reply> {
  // Called before and after the counts, because an erasure can begin or end while they are computed.
  const isErasing = () => isRemovingRows(registry);
  const wasErasing = isErasing();
  const { redriven, books } = await tables.read(async (read) => {
    const redriven = await readRedriven(read);
    return { redriven, books: await readBooks(read, 'records') };
  });
  const positions = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
  return ok(auditReport(eventLog.logId, positions, books.stored, books.counts, wasErasing || isErasing(), redriven));
}
