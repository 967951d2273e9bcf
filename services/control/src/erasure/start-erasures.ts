import { isDependencyError } from '@weir/domain/errors';
import type { Erasure } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import type { ErasureMetrics } from '@weir/runtime/metrics/control-metrics';
import { isFree, REPORT_EVERY_MS, Taken, WORKER_LOST_MS } from '../background/held-work.ts';
import { failureOf, type RepeatedWork, repeatWork } from '../background/repeat-work.ts';
import type { TopicRetention } from '../control-deps.ts';
import { archiveEnds, canBeArchivedLater, endedWithoutArchive } from './erase-archive.ts';
import { doWritersPause } from './request-erasure.ts';
import { type ErasureDeps, runErasure, Waits } from './run-erasure.ts';

export interface StartErasuresDeps extends ErasureDeps {
  /** Returns the time at which the last detached part of the tables will be removed (`ControlDeps` in control-deps.ts). */
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
  /** An attempt fails if the writers make no progress for this long. Default: `STALLED_MS` (run-erasure.ts). */
  readonly stalledMs?: number;
}

const LOOK_EVERY_MS = 1_000;
/** The pause after the first failure of an erasure. It doubles with each further failure, up to `RETRY_AFTER_MS_MAX`. */
const RETRY_AFTER_MS = 2_000;
/**
 * The pause must end before another process takes over the erasure, which happens `WORKER_LOST_MS` after the last report. This process sends no
 * report during the pause, and its last report can be `REPORT_EVERY_MS` older than the failure. Five seconds are a reserve.
 */
const RETRY_AFTER_MS_MAX = WORKER_LOST_MS - REPORT_EVERY_MS - 5_000;

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
   * be set back. `hasFailed` is false if the erasure waits for the archiver, or if another process has taken it over.
   */
  const failed = new Map<
    string,
    { readonly failures: number; readonly retryAt: number; readonly hasFailed: boolean }
  >();
  const retryAt = ({ erasureId }: Erasure): number => failed.get(erasureId)?.retryAt ?? 0;

  /**
   * Returns the erasure to carry out next: the oldest one that has not failed, or else the one whose retry was due first. An erasure waits until
   * all older ones of its site have found their persons, because it could delete rows that they need for this. With an order by age alone, old
   * erasures that fail could block all others: their attempts can take longer than the pauses between them.
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
      logger.info({ erasure: erasureId, site: siteId }, 'an erasure is complete');
    } catch (error) {
      if (signal.aborted) return;
      const failures = (failed.get(erasureId)?.failures ?? 0) + 1;
      const pauseMs = Math.min(RETRY_AFTER_MS * 2 ** (failures - 1), RETRY_AFTER_MS_MAX);
      const hasFailed = !(error instanceof Taken || error instanceof Waits);
      failed.set(erasureId, { failures, retryAt: performance.now() + pauseMs, hasFailed });
      if (error instanceof Taken) return;
      const failure = failureOf(error);
      if (hasFailed) logger.error({ erasure: erasureId, ...failure }, 'an erasure stopped and will be tried again');
      await note(erasureId, failure.problem);
    }
  }

  /** Forgets the failures of all erasures that are not open any more: this process or another one has completed them. */
  function forgetFailures(open: readonly Erasure[]): void {
    for (const erasureId of failed.keys()) {
      if (!open.some((erasure) => erasure.erasureId === erasureId)) failed.delete(erasureId);
    }
  }

  async function note(erasureId: string, problem: string): Promise<void> {
    const erasure = registry.erasure(erasureId);
    try {
      if (erasure !== undefined) await registry.putErasure({ ...erasure, problem });
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      // The registry cannot be written now. The failure itself is already logged, and the erasure will be tried again.
    }
  }

  /**
   * Begins the phase `archive` of an erasure that was done while Weir had no archive. Resolves with undefined if the archive cannot have records of
   * such an erasure. Call it only if all erasures are done, so that at most one reopened erasure is open. A reopened erasure stays open as long as
   * a segment of the archive is damaged, and the number of open erasures is limited.
   */
  async function reopen(): Promise<Erasure | undefined> {
    const { archive, eventLog, topics } = deps;
    const erasure = endedWithoutArchive(registry).at(-1);
    if (archive === undefined || erasure === undefined || !isFree(erasure.worker, deps)) return undefined;
    if (!canBeArchivedLater(erasure, topics, clock())) return undefined;
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
      forgetFailures(open);
      deps.metrics.failing(open.filter(({ erasureId }) => failed.get(erasureId)?.hasFailed).length);
      const erasure = open.length > 0 ? nextOf(open) : await reopen();
      // All open erasures are checked: each process has its own order (`nextOf`), so another process can be working on any of them.
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
