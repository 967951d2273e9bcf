import { createLineEraser } from '@weir/domain/erasure/erase-line';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Registry } from '@weir/ports/registry';
import type { ReplayedRow } from './replay-scope.ts';

/** When the present run of a replay began: the replay itself, or the first attempt to undo it. */
export function startedAt({ request, state }: Pick<Replay, 'request'> & { readonly state: ReplayState }): number {
  return state.undoFrom ?? request.startedAt;
}

/**
 * Returns the line of a row, without what was erased before the run began. Later tombstones do not count: a plan that is repeated must
 * have the same bytes. A swap is refused after them (`erasureSince`).
 */
export function createRowEraser(registry: Pick<Registry, 'tombstones' | 'hasTombstones'>, since: number) {
  const known = new Map<string, { readonly all: readonly Tombstone[]; readonly own: readonly Tombstone[] }>();
  /** The same array for the same tombstones: they are compiled once for each array. */
  function tombstonesOf(siteId: string): readonly Tombstone[] {
    const all = registry.tombstones(siteId);
    const cached = known.get(siteId);
    if (cached?.all === all) return cached.own;
    const own = all.filter(({ at }) => at <= since);
    known.set(siteId, { all, own });
    return own;
  }
  const eraseLine = createLineEraser(tombstonesOf);
  return ({ line, version }: ReplayedRow): Uint8Array => (registry.hasTombstones() ? eraseLine(line, version) : line);
}

/** Why the tables must not be exchanged: persons were erased while the replay filled the shadow tables, and it may have brought them back. */
export function erasureSince(registry: Pick<Registry, 'erasures'>, since: number): string | undefined {
  const open = registry.erasures().find(({ finishedAt }) => finishedAt === undefined || finishedAt >= since);
  if (open === undefined) return undefined;
  return open.finishedAt === undefined
    ? `the erasure ${open.erasureId} is running: try again when it is done, with a new replay`
    : `the erasure ${open.erasureId} ended after this replay began: drop the replay and start it again`;
}
