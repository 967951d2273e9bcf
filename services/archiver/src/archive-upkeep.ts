import type { ObjectStore } from '@weir/ports/object-store';
import { MANIFEST_NAME, summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { createArchiveMetric } from '@weir/runtime/archive/archive-metrics';
import { removeLeftovers } from '@weir/runtime/archive/remove-leftovers';
import { describeError } from '@weir/runtime/consume/consume-retry';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { expireSegments } from './expire-segments.ts';

/** After a failure, the next run begins earlier, so that a short fault does not cause an alert. */
const RETRY_MS = 60_000;

export interface ArchiveUpkeepDeps {
  readonly store: ObjectStore;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly limits: { readonly retentionMs: number | undefined; readonly upkeepMs: number };
  readonly metrics: Metrics;
  /** Whether this process does the upkeep now. Two processes can do the upkeep at the same time without harm. */
  isLeader(): boolean;
}

export interface ArchiveUpkeep {
  /** Why the last run failed. Undefined if it did not. */
  problem(): string | undefined;
  close(): Promise<void>;
}

/**
 * Regularly deletes old segments (objects with archived records), and writes the manifest, which summarises the others. If a run fails, the error
 * is logged, and the next run does the same work.
 */
export function startArchiveUpkeep(deps: ArchiveUpkeepDeps): ArchiveUpkeep {
  const { limits, logger } = deps;
  const setFailing = createArchiveMetric(deps.metrics, 'upkeep');
  let problem: string | undefined;
  let running: Promise<void> = Promise.resolve();
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  const run = async (): Promise<void> => {
    if (closed) return;
    let failed: string | undefined;
    try {
      if (deps.isLeader()) await keepArchive(deps);
    } catch (error) {
      failed = `the upkeep of the archive failed: ${describeError(error).message}`;
      logger.warn({ err: error }, 'the upkeep of the archive failed; the next run repeats it');
      clearTimeout(retry);
      retry = setTimeout(start, Math.min(RETRY_MS, limits.upkeepMs)).unref();
    }
    problem = failed;
    setFailing(failed !== undefined);
  };
  const start = (): void => {
    running = running.then(run);
  };
  const timer = setInterval(start, limits.upkeepMs).unref();
  return {
    problem: () => problem,
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
      clearTimeout(retry);
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
}: Omit<ArchiveUpkeepDeps, 'isLeader' | 'metrics'>): Promise<void> {
  if (limits.retentionMs !== undefined) {
    const segments = await expireSegments(store, clock() - limits.retentionMs, logger);
    if (segments > 0) logger.info({ segments }, 'deleted segments of the archive that are older than its retention');
  }
  const partitions = await summariseArchive(store);
  const text = `${JSON.stringify({ writtenAt: new Date(clock()).toISOString(), partitions }, undefined, 1)}\n`;
  await store.put(MANIFEST_NAME, Buffer.from(text));
  await removeLeftovers(store, clock());
}
