import { isDependencyError } from '@weir/domain/errors';
import type { Erasure } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import type { ErasureMetrics } from '@weir/runtime/removal-metrics';
import type { TopicRetention } from '../control-deps.ts';
import { type RepeatedWork, repeatWork } from '../repeat-work.ts';
import { archiveEnds, endedWithoutArchive } from './erase-archive.ts';
import { doWritersPause } from './request-erasure.ts';
import {
  type ErasureDeps,
  isFree,
  problemText,
  REPORT_EVERY_MS,
  runErasure,
  Taken,
  Waits,
  WORKER_LOST_MS,
} from './run-erasure.ts';

export interface StartErasuresDeps extends ErasureDeps {
  /** Returns when the last detached part of the tables will be removed (`ControlDeps` in control-deps.ts). */
  readonly detachedUntil: () => number | undefined;
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  /** True if this is the only process, because the event log is embedded. */
  readonly alone: boolean;
  /** A random ID of this process. */
  readonly workerId: string;
  readonly logger: Logger;
  readonly metrics: ErasureMetrics;
  readonly topics: TopicRetention;
  readonly publish?: (() => Promise<void>) | undefined;
  /** An attempt fails if it waits this long for the writers without progress. Default: `STALLED_MS` (run-erasure.ts). */
  readonly stalledMs?: number;
}

const LOOK_EVERY_MS = 1_000;
/** The pause after the first failure of an erasure. It doubles with each further failure, up to `RETRY_AFTER_MS_MAX`. */
const RETRY_AFTER_MS = 2_000;
/**
 * During a longer pause, another process would take over the erasure: it does so if there was no report for `WORKER_LOST_MS`. There is no report in
 * the pause, and the last report can be `REPORT_EVERY_MS` older than the failure. Five seconds are a reserve.
 */
const RETRY_AFTER_MS_MAX = WORKER_LOST_MS - REPORT_EVERY_MS - 5_000;
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

const isSearching = ({ phase }: Erasure): boolean => phase === 'waiting' || phase === 'resolving';

/**
 * Carries out the erasures of the registry one after the other, oldest first. An erasure that fails is retried with backoff, after those that
 * have not failed. If the process ends before an erasure is done, another process with the control role continues it, or the next start of
 * this process.
 */
export function startErasures(deps: StartErasuresDeps): RepeatedWork {
  const { registry, clock, logger } = deps;
  const stop = new AbortController();
  const { signal } = stop;
  /**
   * The erasures whose last attempt in this process did not complete them. `retryAt` is a time of `performance.now()`, because the system clock can
   * be set back. `hasFailed` is false if the attempt ended because the erasure waits for the archiver, or because another process has taken it over.
   */
  const failed = new Map<
    string,
    { readonly failures: number; readonly retryAt: number; readonly hasFailed: boolean }
  >();
  const retryAt = ({ erasureId }: Erasure): number => failed.get(erasureId)?.retryAt ?? 0;

  /**
   * Returns the erasure to carry out next: the oldest one that has not failed, or else the one whose retry was due first. An erasure waits until all
   * older ones of its site have found their persons, because it could delete rows that they need for this. The order is not only by age: if attempts
   * take longer than the pauses between them, a few old erasures that fail would block all others.
   */
  function nextOf(open: readonly Erasure[]): Erasure | undefined {
    const isBlocked = ({ siteId }: Erasure, nth: number): boolean =>
      open.slice(0, nth).some((older) => older.siteId === siteId && isSearching(older));
    const due = open.filter((erasure, nth) => retryAt(erasure) <= performance.now() && !isBlocked(erasure, nth));
    return due.toSorted((a, b) => retryAt(a) - retryAt(b))[0];
  }

  async function work({ erasureId, siteId }: Erasure): Promise<void> {
    try {
      await runErasure({ ...deps, signal }, erasureId);
      failed.delete(erasureId);
      logger.info({ erasure: erasureId, site: siteId }, 'an erasure is complete');
    } catch (error) {
      if (signal.aborted) return;
      const failures = (failed.get(erasureId)?.failures ?? 0) + 1;
      const pauseMs = Math.min(RETRY_AFTER_MS * 2 ** (failures - 1), RETRY_AFTER_MS_MAX);
      const hasFailed = !(error instanceof Taken || error instanceof Waits);
      failed.set(erasureId, { failures, retryAt: performance.now() + pauseMs, hasFailed });
      if (error instanceof Taken) return;
      const problem = problemText(error);
      const code = isDependencyError(error) ? error.code : undefined;
      if (hasFailed) logger.error({ erasure: erasureId, code, problem }, 'an erasure stopped and will be tried again');
      await note(erasureId, problem);
    }
  }

  async function note(erasureId: string, problem: string): Promise<void> {
    const erasure = registry.erasure(erasureId);
    try {
      if (erasure !== undefined) await registry.putErasure({ ...erasure, problem });
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      // The registry cannot be written now. The problem was logged above, and the erasure will be tried again.
    }
  }

  /**
   * Begins the phase `archive` of an erasure that was done while Weir had no archive. Resolves with undefined if there is none whose records can be
   * in the archive. Call it only if all erasures are done, so that at most one reopened erasure is open: it stays open as long as a segment of the
   * archive is damaged, and the number of open erasures is limited.
   */
  async function reopen(): Promise<Erasure | undefined> {
    const { archive, eventLog, topics } = deps;
    const erasure = endedWithoutArchive(registry).at(-1);
    if (archive === undefined || erasure === undefined || !isFree(erasure.worker, deps)) return undefined;
    // Reopens erasures that are older than the retention too: Kafka can keep records for a while after it, and the retention can have been longer
    // before.
    const keptMs = Math.max(topics.rawRetentionHours, topics.enrichedRetentionDays * 24) * HOUR_MS;
    if (erasure.at < clock() - 2 * keptMs - WEEK_MS) return undefined;
    const reopened: Erasure = { ...erasure, phase: 'archive', archiveEnds: await archiveEnds(eventLog) };
    await registry.putErasure(reopened);
    logger.info(
      { erasure: erasure.erasureId },
      'an erasure from before there was an archive is carried out in the archive',
    );
    return reopened;
  }

  async function workOff(): Promise<void> {
    await deps.ready;
    while (!signal.aborted) {
      const open = registry.erasures().filter(({ phase }) => phase !== 'done');
      deps.metrics.failing(open.filter(({ erasureId }) => failed.get(erasureId)?.hasFailed).length);
      const erasure = open.length > 0 ? nextOf(open) : await reopen();
      // All open erasures are checked: another process can carry out any of them, because the order of `nextOf` depends on the failures in a process.
      if (erasure === undefined || open.some(({ worker }) => !isFree(worker, deps))) return;
      if (doWritersPause(registry) || registry.expiry() !== undefined) return;
      await work(erasure);
    }
  }

  const repeated = repeatWork(LOOK_EVERY_MS, stop, workOff, (error) => {
    logger.error({ err: error }, 'erasures cannot be carried out now: retrying');
  });
  registry.onChange(repeated.look);
  return repeated;
}
