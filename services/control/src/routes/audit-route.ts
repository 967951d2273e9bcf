import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { auditReport } from '../audit/audit-report.ts';
import { auditReportSince, readBooksSince } from '../audit/audit-since.ts';
import { readBooks, readRedriven } from '../audit/read-books.ts';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { readParameters } from '../http/query-parameters.ts';
import { readRecentTime } from '../http/recent-time.ts';
import { isRemovingRows } from '../retention/tables-in-use.ts';

/**
 * Reports whether every raw record has exactly one outcome, and whether the numbers of received and processed records agree. With the parameter
 * `since`, the raw records are compared from a checkpoint on: the last checkpoint at or before this time (docs/decisions/0044).
 */
export async function audit({ tables, eventLog, registry, clock }: AdminDeps, { http }: AdminRequest): Promise<Reply> {
  const read = readParameters(http.originalUrl, ['since']);
  if ('problem' in read) return invalid(read.problem);
  const text = new Map(read.value).get('since');
  const since = text === undefined ? undefined : readRecentTime('since', text, clock());
  if (since !== undefined && 'problem' in since) return invalid(since.problem);
  // This function is called before and after the counts, because an erasure or an expiry can begin or end while the counts are computed.
  const isErasing = () => isRemovingRows(registry);
  const wasErasing = isErasing();
  const { logId } = eventLog;
  if (since !== undefined) {
    const books = await tables.read((stored) => readBooksSince(stored, logId, since.value));
    const ends = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
    return ok(auditReportSince(logId, ends, books, wasErasing || isErasing()));
  }
  const { redriven, books } = await tables.read(async (stored) => {
    const redriven = await readRedriven(stored);
    return { redriven, books: await readBooks(stored, 'records') };
  });
  const positions = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
  return ok(auditReport(logId, positions, books.stored, books.counts, wasErasing || isErasing(), redriven));
}
