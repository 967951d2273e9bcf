import type { ObjectStore } from '@weir/ports/object-store';
import { MANIFEST_NAME, summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { removeLeftovers } from '@weir/runtime/archive/remove-leftovers';
import type { Logger } from '@weir/runtime/logger';
import { expireSegments } from './expire-segments.ts';

export interface ArchiveUpkeepDeps {
  readonly store: ObjectStore;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly limits: { readonly retentionMs: number | undefined; readonly upkeepMs: number };
  /** Whether this process does the upkeep now. Two processes can do the upkeep at the same time without harm. */
  isLeader(): boolean;
}

/**
 * Regularly deletes old segments (objects with archived records), and writes the manifest, which summarises the others. If a run fails, the error
 * is logged, and the next run does the same work.
 */
export function startArchiveUpkeep(deps: ArchiveUpkeepDeps): { close(): Promise<void> } {
  const { limits, logger } = deps;
  let running: Promise<void> = Promise.resolve();
  let closed = false;
  const run = async (): Promise<void> => {
    if (closed || !deps.isLeader()) return;
    try {
      await keepArchive(deps);
    } catch (error) {
      logger.warn({ err: error }, 'the upkeep of the archive failed; the next run repeats it');
    }
  };
  const timer = setInterval(() => {
    running = running.then(run);
  }, limits.upkeepMs);
  timer.unref();
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Deletes the segments that are older than the retention, writes the manifest of the other segments, and then deletes the leftovers of interrupted
 * uploads.
 */
export async function keepArchive({
  store,
  clock,
  logger,
  limits,
}: Omit<ArchiveUpkeepDeps, 'isLeader'>): Promise<void> {
  if (limits.retentionMs !== undefined) {
    const segments = await expireSegments(store, clock() - limits.retentionMs, logger);
    if (segments > 0) logger.info({ segments }, 'deleted segments of the archive that are older than its retention');
  }
  const partitions = await summariseArchive(store);
  const text = `${JSON.stringify({ writtenAt: new Date(clock()).toISOString(), partitions }, undefined, 1)}\n`;
  await store.put(MANIFEST_NAME, Buffer.from(text));
  await removeLeftovers(store, clock());
}
