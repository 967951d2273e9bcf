import { createLineEraser } from '@weir/domain/erasure/erase-line';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import { expiresBefore, KEEP_FOREVER, type Keep, keepOf } from '@weir/domain/registry/keep';
import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Registry } from '@weir/ports/registry';
import type { ReplayedRow } from './replay-scope.ts';

/** Returns the time at which the present run of a replay began. An undo is a separate run, which began with the first attempt to undo. */
export function startedAt({
  request,
  state,
}: Pick<Replay, 'request'> & { readonly state?: ReplayState | undefined }): number {
  return state?.undoFrom ?? request.startedAt;
}

/**
 * Returns the time with which an undo begins: `now`, or a later time, so that all erasures that are done have ended before it, also if the clock of
 * the process that carried them out was ahead. Otherwise `erasureSince` would refuse the undo for ever.
 */
export function timeAfterErasures(registry: Pick<Registry, 'erasures'>, now: number): number {
  return Math.max(now, ...registry.erasures().map(({ finishedAt = 0 }) => finishedAt + 1));
}

/**
 * Returns a function that gives the line to insert for a row. If the row belongs to an erasure that was requested before the run began, its line
 * has the outcome `erased`. If the row had expired when the run began, its line has the outcome `expired`. Later erasures do not count, because a
 * repeated insert must have the same bytes. After a later erasure, the swap (docs/glossary.md) is refused (`erasureSince`).
 */
export function createRowEraser(
  registry: Pick<Registry, 'tombstones' | 'hasTombstones' | 'site' | 'sites'>,
  since: number,
  keep: Keep | undefined,
) {
  const known = new Map<string, { readonly all: readonly Tombstone[]; readonly own: readonly Tombstone[] }>();
  /** Returns the same array as long as the tombstones (docs/glossary.md) do not change, because `eraseLine` compiles each new array. */
  function tombstonesOf(siteId: string): readonly Tombstone[] {
    const all = registry.tombstones(siteId);
    const cached = known.get(siteId);
    if (cached?.all === all) return cached.own;
    const own = all.filter(({ at }) => at <= since);
    known.set(siteId, { all, own });
    return own;
  }
  // The setting `keep` of a site cannot change while a replay runs (sites-route.ts), so a repeated insert has the same rows `expired`.
  const eventsExpireBefore = (siteId: string) =>
    expiresBefore(keepOf(registry.site(siteId), keep ?? KEEP_FOREVER).events, since);
  const hasLimits =
    (keep ?? KEEP_FOREVER).events !== 'forever' || registry.sites().some((site) => site.keep?.events !== undefined);
  const eraseLine = createLineEraser(tombstonesOf, eventsExpireBefore);
  return ({ line, version }: ReplayedRow): Uint8Array =>
    hasLimits || registry.hasTombstones() ? eraseLine(line, version) : line;
}

/**
 * Returns why the tables must not be exchanged: an erasure is running, or an erasure ended after the run of the replay began. In both cases, the
 * tables that would become live may contain erased records. Returns undefined if there is no such erasure.
 */
export function erasureSince(
  registry: Pick<Registry, 'erasures'>,
  { request, state }: Pick<Replay, 'request'> & { readonly state: ReplayState },
): string | undefined {
  const since = startedAt({ request, state });
  const open = registry.erasures().find(({ finishedAt }) => finishedAt === undefined || finishedAt >= since);
  if (open === undefined) return undefined;
  const { erasureId, finishedAt } = open;
  if (state.undoing)
    return (
      `the erasure ${erasureId} ${finishedAt === undefined ? 'is running' : 'ended after the first attempt to undo the swap'}, so the former tables ` +
      'can have its records: the swap cannot be undone any more. weir replay drop removes the former tables'
    );
  return finishedAt === undefined
    ? `the erasure ${erasureId} is running: try again when it is done, with a new replay`
    : `the erasure ${erasureId} ended after this replay began: drop the replay and start it again`;
}
