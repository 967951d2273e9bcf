import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DETACHED, PREFIX } from './detach-doubtful-parts.ts';
import { BROKEN_PREFIX } from './drop-orphaned-tokens.ts';
import { namesIn, tableFolders } from './table-folders.ts';

/** A part that was moved to a folder `detached` stays there for this time. An operator can look at it until then (docs/operations.md). */
export const DETACHED_KEPT_MS = 7 * 24 * 3_600_000;
/** How often parts that are old enough are removed. */
export const DETACHED_PERIOD_MS = 3_600_000;

/**
 * Removes the parts that were moved to a folder `detached` at least `keptMs` ago: by the repair at a start, or by the engine because they are
 * damaged. Their rows can belong to a person who was erased since then, so they cannot stay for ever. Returns the number of removed parts.
 */
export function removeDetachedParts(folder: string, keptMs: number, now: number): number {
  const old = detachedParts(folder).filter(({ movedAt }) => now - movedAt >= keptMs);
  for (const { path } of old) rmSync(path, { recursive: true });
  return old.length;
}

/**
 * The time in Unix milliseconds at which `removeDetachedParts` will have removed all parts that are in the folders `detached` now; undefined
 * if there are none.
 */
export function detachedUntil(folder: string): number | undefined {
  const moved = detachedParts(folder).map(({ movedAt }) => movedAt);
  return moved.length === 0 ? undefined : Math.ceil(Math.max(...moved)) + DETACHED_KEPT_MS + DETACHED_PERIOD_MS;
}

function detachedParts(folder: string): readonly { readonly path: string; readonly movedAt: number }[] {
  return tableFolders(folder).flatMap((table) =>
    namesIn(join(table.path, DETACHED))
      .filter((part) => part.startsWith(PREFIX) || part.startsWith(BROKEN_PREFIX))
      .flatMap((name) => {
        const path = join(table.path, DETACHED, name);
        // The ctime is the time of the move: renaming a folder changes its ctime, but not its mtime. Undefined if the part was removed meanwhile.
        const movedAt = statSync(path, { throwIfNoEntry: false })?.ctimeMs;
        return movedAt === undefined ? [] : [{ path, movedAt }];
      }),
  );
}
