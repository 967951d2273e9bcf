import { pendingWish } from '@weir/domain/registry/replay';
import type { Registry } from '@weir/ports/registry';
import { doWritersPause, hasOpenErasure } from '../erasure/request-erasure.ts';

/**
 * Returns the work for which an expiry must wait, or undefined. After a swap or an undo (docs/glossary.md), a replay only keeps the former tables.
 * The expiry then waits for the replay only if the replay has a command that was not carried out yet.
 */
export function tablesInUse(registry: Registry): 'erasure' | 'replay' | 'swap' | undefined {
  if (doWritersPause(registry)) return 'swap';
  if (hasOpenErasure(registry)) return 'erasure';
  const replay = registry.replay();
  if (replay === undefined) return undefined;
  const rests = replay.state?.phase === 'swapped' || replay.state?.phase === 'undone';
  return rests && pendingWish(replay) === undefined ? undefined : 'replay';
}

/** Whether an erasure deletes rows now. */
export function isErasingRows(registry: Registry): boolean {
  // An erasure with `finishedAt` has deleted its rows. It can still be in this phase for a long time, if it cannot publish its tombstones.
  return registry.erasures().some(({ phase, finishedAt }) => phase === 'deleting' && finishedAt === undefined);
}

/** Whether an erasure or an expiry deletes rows now. During the deletion, a raw offset (docs/glossary.md) can be stored twice. */
export function isRemovingRows(registry: Registry): boolean {
  return registry.expiry()?.phase === 'deleting' || isErasingRows(registry);
}

/** Whether rows of the live tables may be deleted or exchanged now. Also true while a backup pauses the writers. */
export function isReplacingRows(registry: Registry): boolean {
  return doWritersPause(registry) || isRemovingRows(registry);
}
