import type { ImportLedgerEntry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';
import { conflict, isReply, notFound, ok, type Reply, unavailable } from '../http/admin-reply.ts';
import { appendHits } from './append-hits.ts';
import { type RestoredRows, SETTLE_MS } from './append-result.ts';
import { findMissingHits, findUnstoredHits } from './find-missing-hits.ts';
import type { ImportChunk, ImportHit } from './import-chunk.ts';
import type { ImportDesk } from './import-desk.ts';
import type { ImportLease } from './import-lease.ts';
import { importView } from './import-view.ts';
import { putEntry } from './put-entry.ts';

type ChunkDeps = Omit<AdminDeps, keyof ImportDesk> & ImportDesk;

const WAITING = 'waiting until the pipeline has stored all records of the log';

/**
 * Imports the next chunk of a file in three steps: marks its lines as pending in the ledger (a row of the registry), appends its hits or rows to the
 * log, and marks the lines as done. After a failure between two steps, the chunk is still pending, and the next attempt appends only the hits that
 * the log does not have. Repeating a chunk that is done changes nothing. The rows of a dump are always compared with the stored rows, and not only
 * after a failure, because another dump can contain the same rows.
 */
export async function takeChunk(
  deps: ChunkDeps,
  lease: ImportLease,
  siteId: string,
  fileDigest: string,
  chunk: ImportChunk,
): Promise<Reply> {
  const entry = deps.registry.import(siteId, fileDigest);
  const site = deps.registry.site(siteId);
  if (site === undefined || entry === undefined) return notFound('import');
  if (chunk.lastLine <= entry.linesDone) return ok(importView(entry));
  if (chunk.firstLine !== entry.linesDone + 1) {
    return conflict(`the next chunk must begin at line ${entry.linesDone + 1}`);
  }
  const hits = await hitsToAppend(deps, lease, entry, chunk.hits);
  if (isReply(hits)) return hits;

  const linesPending = Math.max(entry.linesPending, chunk.lastLine);
  if (!(await putEntry(deps, site, { ...entry, linesPending }))) return notFound('import');
  const appended = await appendChunk(deps, siteId, fileDigest, hits, chunk);
  if (appended === 'behind') return unavailable(WAITING, 2);
  if (typeof appended === 'string') {
    if (appended === 'unknown') lease.settledAt = deps.clock() + SETTLE_MS;
    return unavailable(`the event log did not store the chunk (${appended}): send it again`);
  }
  const done: ImportLedgerEntry = {
    ...entry,
    linesPending,
    linesDone: chunk.lastLine,
    hitsAppended: entry.hitsAppended + appended,
  };
  return (await putEntry(deps, site, done)) ? ok(importView(done)) : notFound('import');
}

/**
 * Appends a chunk. When it resolves with a number, all hits or rows of the chunk are in the log. For hits, this is the number of hits in the chunk.
 * For a dump, it is the number of rows that were appended now. Otherwise it resolves with the reason why it is not certain that all are in the log.
 */
async function appendChunk(
  deps: ChunkDeps,
  siteId: string,
  fileDigest: string,
  hits: readonly ImportHit[],
  { hits: allHits, rows }: ImportChunk,
): ReturnType<RestoredRows['append']> {
  if (rows.length > 0) return deps.restoredRows.append(siteId, rows);
  const appended = await appendHits(deps, siteId, fileDigest, hits);
  return appended === 'stored' ? allHits.length : appended;
}

/**
 * Returns the hits to append: the hits of new lines, and those hits of pending lines that the log does not have. If the ledger is older than the
 * tables, all lines count as pending. If Weir cannot find out now which hits the log has, returns an error reply.
 */
async function hitsToAppend(
  deps: ChunkDeps,
  lease: ImportLease,
  entry: ImportLedgerEntry,
  hits: readonly ImportHit[],
): Promise<readonly ImportHit[] | Reply> {
  const isNew = ({ line }: ImportHit): boolean => !lease.isLedgerOld && line > entry.linesPending;
  const unknown = hits.filter(isNew);
  if (lease.isLedgerOld === undefined && unknown.length > 0) {
    const unstored = await findUnstoredHits(deps, entry.siteId, entry.fileDigest, unknown);
    lease.isLedgerOld = unstored.length < unknown.length;
  }
  const doubtful = hits.filter((hit) => !isNew(hit));
  if (doubtful.length === 0) return hits;
  const settlesInMs = lease.settledAt - deps.clock();
  if (settlesInMs > 0) {
    return unavailable('an append with an unknown result may still be in flight', Math.ceil(settlesInMs / 1000));
  }
  const missing = await findMissingHits(deps, entry.siteId, entry.fileDigest, doubtful);
  if (missing === undefined) return unavailable(WAITING, 2);
  return [...missing, ...hits.filter(isNew)];
}
