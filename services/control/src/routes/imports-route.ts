import { FILE_DIGEST_PATTERN } from '@weir/domain/registry/admin-limits';
import type { ImportLedgerEntry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';
import { busy, fullSite, invalid, isReply, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { finishImport } from '../imports/finish-import.ts';
import { readChunk, type SentChunk } from '../imports/import-chunk.ts';
import { importView } from '../imports/import-view.ts';
import { takeChunk } from '../imports/take-chunk.ts';
import { waitUntilStored } from '../imports/wait-until-stored.ts';
import { randomId } from '../registry/random-id.ts';

export const CHUNK_BYTES_MAX = 8 * 1024 * 1024;
const IMPORTS_PER_SITE_MAX = 10_000;
const QUERYABLE_WAIT_MS = 10_000;
const DIGEST = new RegExp(FILE_DIGEST_PATTERN);
const NOT_ELECTED = 'another process of Weir accepts imports, or has just ended: send the request again';
const HELD = 'another import of this file is running';

export function listImports({ registry }: AdminDeps, { site: { siteId } }: SiteRequest): Reply {
  return ok(registry.imports(siteId).map(importView));
}

/**
 * Begins or continues the import of a file. The answer has a lease, which the client sends with each chunk. The lease is null if the import is
 * already finished.
 */
export async function beginImport(
  deps: AdminDeps,
  { site: { siteId }, body }: SiteRequest<{ readonly file_digest: string }>,
): Promise<Reply> {
  const { registry, runExclusive, randomBytes, clock } = deps;
  if ('problem' in body) return invalid(body.problem);
  const fileDigest = body.value.file_digest;
  // This call can wait for the election of the process that accepts imports. Other changes of the registry must not wait meanwhile.
  const desk = await deps.importDesk();
  return runExclusive(async (): Promise<Reply> => {
    // The site may have been removed meanwhile.
    if (registry.site(siteId) === undefined) return notFound('site');
    const known = registry.import(siteId, fileDigest);
    if (known?.finished) return ok({ ...importView(known), lease: null });
    if (known === undefined && registry.imports(siteId).length >= IMPORTS_PER_SITE_MAX)
      return fullSite(IMPORTS_PER_SITE_MAX, 'imports');
    if (desk === undefined) return busy(NOT_ELECTED);
    const lease = randomId('lease', randomBytes);
    if (desk.importLeases.take(keyOf({ siteId, fileDigest }), lease) === undefined) return busy(HELD);
    const entry = known ?? newEntry(siteId, fileDigest, clock());
    if (known === undefined) await desk.registry.putImport(entry);
    return ok({ ...importView(entry), lease });
  });
}

/** Appends the hits or rows of consecutive lines of the file. */
export async function importChunk(deps: AdminDeps, { params, body }: AdminRequest<SentChunk>): Promise<Reply> {
  const entry = entryOf(deps, params);
  if (entry === undefined) return notFound('import');
  if ('problem' in body) return invalid(body.problem);
  const chunk = readChunk(body.value);
  if ('problem' in chunk) return invalid(chunk.problem);
  const desk = await deps.importDesk();
  if (desk === undefined) return busy(NOT_ELECTED);
  const lease = desk.importLeases.extend(keyOf(entry), body.value.lease);
  if (lease === undefined) return busy(HELD);
  const { siteId, fileDigest } = entry;
  return desk.run(() => lease.run(() => takeChunk({ ...deps, ...desk }, lease, siteId, fileDigest, chunk.value)));
}

/** Marks the import as finished, and waits up to 10 s until the rows can be queried. The field `queryable` says whether they can be queried. */
export async function completeImport(
  deps: AdminDeps,
  { params, body }: AdminRequest<{ readonly lease: string; readonly lines: number }>,
): Promise<Reply> {
  const entry = entryOf(deps, params);
  if (entry === undefined) return notFound('import');
  if ('problem' in body) return invalid(body.problem);
  const finished = await finish(deps, entry, body.value);
  if (isReply(finished)) return finished;
  const queryable = await waitUntilStored(deps, QUERYABLE_WAIT_MS);
  return ok({ ...importView(finished), queryable });
}

async function finish(
  deps: AdminDeps,
  { siteId, fileDigest, finished: isFinished }: ImportLedgerEntry,
  { lines, lease: leaseId }: { readonly lease: string; readonly lines: number },
): Promise<ImportLedgerEntry | Reply> {
  if (isFinished) return finishImport(deps, siteId, fileDigest, lines);
  const desk = await deps.importDesk();
  if (desk === undefined) return busy(NOT_ELECTED);
  const key = keyOf({ siteId, fileDigest });
  const lease = desk.importLeases.extend(key, leaseId);
  if (lease === undefined) return busy(HELD);
  const finished = await desk.run(() => lease.run(() => finishImport({ ...deps, ...desk }, siteId, fileDigest, lines)));
  if (!isReply(finished)) desk.importLeases.release(key, leaseId);
  return finished;
}

/** Releases the lease of an import, so that a client can continue the import later. */
export async function releaseImport(
  deps: AdminDeps,
  { params, body }: AdminRequest<{ readonly lease: string }>,
): Promise<Reply> {
  const entry = entryOf(deps, params);
  if (entry === undefined) return notFound('import');
  if ('problem' in body) return invalid(body.problem);
  const desk = await deps.importDesk();
  if (desk === undefined) return busy(NOT_ELECTED);
  desk.importLeases.release(keyOf(entry), body.value.lease);
  return ok(importView(entry));
}

function entryOf({ registry }: AdminDeps, { site_id: siteId = '', digest = '' }: AdminRequest['params']) {
  return DIGEST.test(digest) ? registry.import(siteId, digest) : undefined;
}

function keyOf({ siteId, fileDigest }: Pick<ImportLedgerEntry, 'siteId' | 'fileDigest'>): string {
  return `${siteId}/${fileDigest}`;
}

function newEntry(siteId: string, fileDigest: string, startedAt: number): ImportLedgerEntry {
  return { siteId, fileDigest, startedAt, linesDone: 0, linesPending: 0, hitsAppended: 0, finished: false };
}
