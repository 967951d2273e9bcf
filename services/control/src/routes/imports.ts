import {
  FILE_DIGEST_PATTERN,
  IMPORT_CHUNK,
  IMPORT_FINISH,
  IMPORT_RELEASE,
  NEW_IMPORT,
} from '@weir/domain/admin-schemas';
import type { ImportLedgerEntry } from '@weir/ports/registry';
import type { Request, Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute, param } from '../define-route.ts';
import { finishImport } from '../imports/finish-import.ts';
import { chunkProblem, type ImportChunk } from '../imports/import-chunk.ts';
import { createImportLeases } from '../imports/import-lease.ts';
import { importView } from '../imports/import-view.ts';
import { takeChunk } from '../imports/take-chunk.ts';
import { waitUntilStored } from '../imports/wait-until-stored.ts';
import { randomId } from '../random-id.ts';
import { busy, conflict, invalid, isReply, notFound, ok, type Reply } from '../reply.ts';
import type { Serial } from '../serial.ts';
import { compileBody } from '../validate.ts';

const CHUNK_BYTES_MAX = 8 * 1024 * 1024;
const IMPORTS_PER_SITE_MAX = 10_000;
const QUERYABLE_WAIT_MS = 10_000;
const DIGEST = new RegExp(FILE_DIGEST_PATTERN);
const HELD = 'another import of this file is under way';

/** The import of access logs, a chunk of lines at a time. The ledger says how far each file went. */
export function importRoutes(router: Router, deps: ControlDeps, serial: Serial): void {
  const { registry } = deps;
  const leases = createImportLeases(deps.clock);
  const checkNew = compileBody<{ readonly file_digest: string }>(NEW_IMPORT);
  const checkChunk = compileBody<ImportChunk>(IMPORT_CHUNK);
  const checkFinish = compileBody<{ readonly lease: string; readonly lines: number }>(IMPORT_FINISH);
  const checkRelease = compileBody<{ readonly lease: string }>(IMPORT_RELEASE);

  const ledgerOf = (request: Request): ImportLedgerEntry | undefined => {
    const digest = param(request, 'digest');
    return DIGEST.test(digest) ? registry.import(param(request, 'site_id'), digest) : undefined;
  };
  const keyOf = (entry: { readonly siteId: string; readonly fileDigest: string }) =>
    `${entry.siteId}/${entry.fileDigest}`;

  defineRoute(router, '/sites/:site_id/imports', {
    get: (request) => {
      const siteId = param(request, 'site_id');
      return registry.site(siteId) === undefined ? notFound('site') : ok(registry.imports(siteId).map(importView));
    },
    post: (request) =>
      serial(async (): Promise<Reply> => {
        const siteId = param(request, 'site_id');
        if (registry.site(siteId) === undefined) return notFound('site');
        const checked = checkNew(request.body);
        if ('problem' in checked) return invalid(checked.problem);
        const fileDigest = checked.value.file_digest;
        const known = registry.import(siteId, fileDigest);
        if (known?.finished) return ok({ ...importView(known), lease: null });
        if (known === undefined && registry.imports(siteId).length >= IMPORTS_PER_SITE_MAX) {
          return conflict(`the site has ${IMPORTS_PER_SITE_MAX} imports, the most there can be`);
        }
        const lease = randomId('lease', deps.randomBytes);
        if (leases.take(`${siteId}/${fileDigest}`, lease) === undefined) return busy(HELD);
        const entry = known ?? newEntry(siteId, fileDigest, deps.clock());
        if (known === undefined) await registry.putImport(entry);
        return ok({ ...importView(entry), lease });
      }),
  });

  defineRoute(
    router,
    '/sites/:site_id/imports/:digest/chunks',
    {
      post: async (request) => {
        const entry = ledgerOf(request);
        if (entry === undefined) return notFound('import');
        const checked = checkChunk(request.body);
        if ('problem' in checked) return invalid(checked.problem);
        const problem = chunkProblem(checked.value);
        if (problem !== undefined) return invalid(problem);
        const lease = leases.prolong(keyOf(entry), checked.value.lease);
        if (lease === undefined) return busy(HELD);
        return lease.run(() => takeChunk(deps, lease, entry.siteId, entry.fileDigest, checked.value));
      },
    },
    CHUNK_BYTES_MAX,
  );

  defineRoute(router, '/sites/:site_id/imports/:digest/finish', {
    post: async (request) => {
      const entry = ledgerOf(request);
      if (entry === undefined) return notFound('import');
      const checked = checkFinish(request.body);
      if ('problem' in checked) return invalid(checked.problem);
      const { siteId, fileDigest } = entry;
      const finish = () => finishImport(deps, siteId, fileDigest, checked.value.lines);
      const lease = entry.finished ? undefined : leases.prolong(keyOf(entry), checked.value.lease);
      if (!entry.finished && lease === undefined) return busy(HELD);
      const finished = await (lease === undefined ? finish() : lease.run(finish));
      if (isReply(finished)) return finished;
      leases.release(keyOf(entry), checked.value.lease);
      const queryable = await waitUntilStored(deps, QUERYABLE_WAIT_MS);
      return ok({ ...importView(finished), queryable });
    },
  });

  defineRoute(router, '/sites/:site_id/imports/:digest/release', {
    post: (request) => {
      const entry = ledgerOf(request);
      if (entry === undefined) return notFound('import');
      const checked = checkRelease(request.body);
      if ('problem' in checked) return invalid(checked.problem);
      leases.release(keyOf(entry), checked.value.lease);
      return ok(importView(entry));
    },
  });
}

function newEntry(siteId: string, fileDigest: string, startedAt: number): ImportLedgerEntry {
  return { siteId, fileDigest, startedAt, linesDone: 0, linesPending: 0, hitsAppended: 0, finished: false };
}
