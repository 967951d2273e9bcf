import { type BackupProgress, type BackupSource, createBackup } from '@weir/backup/create-backup';
import { type ErasedList, writeErasedList } from '@weir/backup/erased-list';
import { listSnapshots, timeOfSnapshot } from '@weir/backup/snapshot';
import type { BackupControl, BackupRequest, BackupView } from '@weir/control/backups/backup-control';
import { isDependencyError, messageOf } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Config } from '@weir/runtime/config/config';
import { isDiskFull } from '@weir/runtime/disk/is-disk-full';
import type { Logger } from '@weir/runtime/logger';
import type { BackupMetrics } from '@weir/runtime/metrics/backup-metrics';
import { createBackupSchedule } from './backup-schedule.ts';

export interface RunBackupsDeps {
  readonly source: BackupSource;
  /** Returns the list of all present tombstones (docs/glossary.md), which a restore of an older backup needs. */
  readonly erased: () => ErasedList;
  readonly openStore: (url: string) => Promise<ObjectStore>;
  readonly schedule: Config['backup'];
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: BackupMetrics;
}

export interface RunningBackups extends BackupControl {
  /**
   * Writes the list of all tombstones into the place of the scheduled backups, if there is one. Rejects with the error of the object
   * store.
   */
  publishErasures(): Promise<void>;
  /** Ends a running backup. If its snapshot is not written yet, this backup cannot be restored, but the next backup reuses its stored chunks. */
  close(): Promise<void>;
}

/** How often Weir checks whether a scheduled backup is due. */
const CHECK_EVERY_MS = 60_000;

/** Runs one backup at a time, on request and by the schedule. */
export function runBackups(deps: RunBackupsDeps): RunningBackups {
  const { clock, logger } = deps;
  const schedule = createBackupSchedule(deps.schedule, deps.metrics);
  const stop = new AbortController();
  let view: RunView | undefined;
  let running: Promise<void> = Promise.resolve();
  let listing: Promise<void> = Promise.resolve();

  const isRunning = (): boolean => view?.state === 'running';

  function start({ to, keep }: BackupRequest): BackupView | undefined {
    if (isRunning() || stop.signal.aborted) return undefined;
    running = run(begin(to), keep);
    return current();
  }

  function begin(to: string): RunView {
    view = {
      to,
      state: 'running',
      phase: 'tables',
      started_at: isoTime(clock()),
      ended_at: null,
      bytes_done: 0,
      bytes_total: 0,
      bytes_stored: null,
      backup_id: null,
      error: null,
    };
    return view;
  }

  async function run(started: RunView, keep: number | undefined): Promise<void> {
    const onProgress = ({ phase, bytesDone, bytesTotal }: BackupProgress): void => {
      view = { ...started, phase, bytes_done: bytesDone, bytes_total: bytesTotal };
    };
    const onWarning = (message: string): void => logger.warn({ to: started.to }, message);
    try {
      // This write fails at once if the place cannot be written, before the tables are frozen and the log is copied.
      await listErasures(started.to);
      const objects = await deps.openStore(started.to);
      try {
        const { source } = deps;
        const { signal } = stop;
        const result = await createBackup({ objects, source, clock, keep, signal, onProgress, onWarning });
        await listErasures(started.to);
        ended({ state: 'done', backup_id: result.id, bytes_done: result.bytes, bytes_stored: result.bytesSent });
        schedule.succeeded(started.to, clock());
        logger.info({ backup: result.id, bytes: result.bytes, stored: result.bytesSent }, 'a backup is complete');
      } finally {
        objects.close();
      }
    } catch (error) {
      failed(started.to, error);
    }
  }

  function ended(how: Partial<RunView>): void {
    if (view !== undefined) view = { ...view, phase: null, ended_at: isoTime(clock()), ...how };
  }

  function failed(to: string, error: unknown): void {
    ended({ state: 'failed', error: reasonOf(error, deps.source.dataDir) });
    if (stop.signal.aborted) return;
    schedule.failed(to, clock());
    logger.error(
      { err: error, nextAttemptAt: schedule.view().next_attempt_at },
      'a backup failed: no new backup was made',
    );
  }

  function current(): BackupView | undefined {
    return view === undefined ? undefined : { ...view, ...schedule.view() };
  }

  /**
   * `last`: the time at which the newest backup in a place was made, in Unix milliseconds. Minus infinity if there is no backup. `future`: the IDs
   * of backups whose time is in the future, because they were made with a wrong clock. `last` ignores them.
   */
  async function newest(to: string): Promise<{ readonly last: number; readonly future: readonly string[] }> {
    const objects = await deps.openStore(to);
    try {
      const ids = await listSnapshots(objects);
      const now = clock();
      const past = ids.filter((id) => timeOfSnapshot(id) <= now).at(-1);
      return {
        last: past === undefined ? Number.NEGATIVE_INFINITY : timeOfSnapshot(past),
        future: ids.filter((id) => timeOfSnapshot(id) > now),
      };
    } finally {
      objects.close();
    }
  }

  async function startIfDue(): Promise<void> {
    const { to, everyMs, keep } = deps.schedule;
    if (to === undefined || everyMs === undefined || isRunning() || schedule.waits(clock())) return;
    try {
      const { last, future } = await newest(to);
      schedule.found(last);
      if (clock() - last < everyMs) return;
      if (future.length > 0)
        logger.warn(
          { to, backups: future },
          'backups have IDs in the future: check the clock of this machine. If the clock was wrong before, delete these objects under snapshots/',
        );
      start({ to, keep });
    } catch (error) {
      // A backup was requested and started in the meantime. It replaces this attempt, so the failure is ignored.
      if (isRunning()) return;
      begin(to);
      failed(to, error);
    }
  }
  /**
   * Writes the list of tombstones into a place of backups. The writes run one after the other, so that an older list never replaces a
   * newer one.
   */
  function listErasures(to: string): Promise<void> {
    const listed = listing.then(async () => {
      const objects = await deps.openStore(to);
      try {
        await writeErasedList(objects, deps.erased());
      } finally {
        objects.close();
      }
    });
    listing = listed.catch(() => undefined);
    return listed;
  }

  let checking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    checking = checking.then(startIfDue);
  }, CHECK_EVERY_MS);
  timer.unref();

  return {
    start,
    current,
    publishErasures: async () => {
      if (deps.schedule.to !== undefined) await listErasures(deps.schedule.to);
    },
    defaults: { to: deps.schedule.to, keep: deps.schedule.keep },
    async close() {
      clearInterval(timer);
      stop.abort();
      await checking;
      await running;
    },
  };
}

/** The message of a failed backup. After a full disk, it also says which folder is full, and what the failure means. */
function reasonOf(error: unknown, dataDir: string): string {
  if (!isDiskFull(error)) return messageOf(error);
  // An error of the place says which folder is full (`isFull`). All other files that a backup writes are in the data folder.
  const where =
    isDependencyError(error) && error.isFull ? '' : `: the disk of the data folder ${dataDir} is full, free some space`;
  return `${messageOf(error)}${where}. ${AFTER_FULL_DISK}`;
}

const AFTER_FULL_DISK =
  'No record and no earlier backup is lost. weir backup list shows only complete backups, and the next backup uses the chunks that this one has stored';

/** The fields of a `BackupView` that describe one backup. The other fields describe the schedule. */
type RunView = Omit<BackupView, 'failed_attempts' | 'next_attempt_at'>;

const isoTime = (time: number): string => new Date(time).toISOString();
