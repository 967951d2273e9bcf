import type { ImportLedgerEntry } from '@weir/ports/registry';
import type { ControlDeps } from '../control-deps.ts';
import { conflict, notFound, type Reply } from '../http/admin-reply.ts';

/**
 * Marks a file as completely imported. Call it within the lease of the file: a chunk that is being imported writes the same row of
 * the registry.
 */
export async function finishImport(
  { registry }: Pick<ControlDeps, 'registry'>,
  siteId: string,
  fileDigest: string,
  lines: number,
): Promise<ImportLedgerEntry | Reply> {
  const entry = registry.import(siteId, fileDigest);
  if (registry.site(siteId) === undefined || entry === undefined) return notFound('import');
  if (entry.linesDone !== lines) return conflict(`${entry.linesDone} lines are done, not ${lines}`);
  if (entry.finished) return entry;
  const finished = { ...entry, finished: true };
  await registry.putImport(finished);
  return finished;
}
