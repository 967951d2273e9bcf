import type { ImportLedgerEntry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';
import { conflict, notFound, type Reply } from '../http/admin-reply.ts';
import { putEntry } from './put-entry.ts';

/**
 * Marks a file as completely imported. Call it as a task of the file's lease (`ImportLease.run`), because the import of a chunk writes the
 * same row of the registry.
 */
export async function finishImport(
  deps: Pick<AdminDeps, 'registry' | 'runExclusive'>,
  siteId: string,
  fileDigest: string,
  lines: number,
): Promise<ImportLedgerEntry | Reply> {
  const entry = deps.registry.import(siteId, fileDigest);
  const site = deps.registry.site(siteId);
  if (site === undefined || entry === undefined) return notFound('import');
  if (entry.linesDone !== lines) return conflict(`${entry.linesDone} lines are done, not ${lines}`);
  const finished = { ...entry, finished: true };
  return (await putEntry(deps, site, finished)) ? finished : notFound('import');
}
