import { PERSONS_MAX } from '@weir/domain/registry/admin-limits';
import type { AdminDeps } from '../control-deps.ts';
import { erasureView } from '../erasure/erasure-view.ts';
import { doWritersPause, requestErasure, TOO_MANY_ERASURES } from '../erasure/request-erasure.ts';
import { accepted, busy, conflict, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';

/** Enough for `PERSONS_MAX` user IDs of 256 characters: JSON can write a character with up to 12 bytes. */
export const ERASURE_BYTES_MAX = 32 * 1024 * 1024;

interface ErasureBody {
  readonly visitors?: readonly string[];
  readonly users?: readonly string[];
  readonly all?: boolean;
  readonly dry_run?: boolean;
}

/**
 * Starts the erasure of persons, or of all records that a site has so far. The answer does not wait for the end of the erasure. A dry run erases
 * nothing.
 */
export function createErasure(deps: AdminDeps, request: AdminRequest<ErasureBody>): Promise<Reply> {
  return changeInSite(deps, request, async ({ siteId }, body) => {
    const { visitors = [], users = [], all: whole = false, dry_run: isDryRun = false } = body;
    if (doWritersPause(deps.registry))
      return busy('the tables are being swapped, or a backup is being made: ask again when that is done');
    const persons = visitors.length + users.length;
    if (whole ? persons > 0 : persons === 0) return invalid('name visitors or users, or set all to true');
    if (persons > PERSONS_MAX) return invalid(`visitors and users must be at most ${PERSONS_MAX} together`);
    if (isDryRun) {
      const counts = { visitors: visitors.length, users: users.length };
      const detachedUntil = deps.detachedUntil();
      const detached = detachedUntil === undefined ? {} : { detachedUntil };
      const planned = {
        siteId,
        erasureId: '',
        at: deps.clock(),
        whole,
        ...counts,
        removed: {},
        begun: {},
        ...detached,
      };
      return ok(erasureView({ ...planned, phase: 'waiting' }, deps.retention));
    }
    const erasure = await requestErasure(deps, { siteId, visitors, users, whole });
    return erasure === undefined ? conflict(TOO_MANY_ERASURES) : accepted(erasureView(erasure, deps.retention));
  });
}

/** Lists the erasures of all sites, including removed sites. The newest erasure comes first. */
export function listErasures({ registry, retention }: AdminDeps): Reply {
  return ok(
    registry
      .erasures()
      .toReversed()
      .map((erasure) => erasureView(erasure, retention)),
  );
}

/** Returns all tombstones (hashes of erased IDs). After a restore of an older backup, Weir uses them to erase the same persons again. */
export function listTombstones({ registry, clock }: AdminDeps): Reply {
  return ok({ version: 1, at: clock(), tombstones: registry.allTombstones() });
}

export function readErasure({ registry, retention }: AdminDeps, { params }: AdminRequest): Reply {
  const erasure = registry.erasure(params.erasure_id ?? '');
  return erasure === undefined ? notFound('erasure') : ok(erasureView(erasure, retention));
}
