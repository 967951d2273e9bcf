import { type BackupProgress, type BackupSource, createBackup } from '@weir/backup/create-backup';
import { listSnapshots } from '@weir/backup/snapshot';
import type { BackupControl, BackupRequest, BackupView } from '@weir/control/backups/backup-control';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';

export interface RunBackupsDeps {
  readonly source: BackupSource;
  readonly openStore: (url: string) => Promise<ObjectStore>;
  readonly schedule: Config['backup'];
  readonly clock: () => number;
  readonly logger: Logger;
}

export interface RunningBackups extends BackupControl {
  /** Gives up the backup that runs: it leaves no snapshot, and the next one uses what it has stored. */
  close(): Promise<void>;
}

/** How often the schedule is compared with the clock. */
const CHECK_EVERY_MS = 60_000;

/** Runs one backup at a time, on request and by the schedule. */
export function runBackups(deps: RunBackupsDeps): RunningBackups {
  const { schedule, clock, logger } = deps;
  const stop = new AbortController();
  let view: BackupView | undefined;
  let running: Promise<void> = Promise.resolve();

  function start({ to, keep }: BackupRequest): BackupView | undefined {
    if (view?.state === 'running' || stop.signal.aborted) return undefined;
    const started: BackupView = {
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
    view = started;
    running = run(started, keep);
    return started;
  }

  async function run(started: BackupView, keep: number | undefined): Promise<void> {
    const onProgress = ({ phase, bytesDone, bytesTotal }: BackupProgress): void => {
      view = { ...started, phase, bytes_done: bytesDone, bytes_total: bytesTotal };
    };
    const ended = (how: Partial<BackupView>): void => {
      view = { ...(view ?? started), phase: null, ended_at: isoTime(clock()), ...how };
    };
    try {
      const objects = await deps.openStore(started.to);
      try {
        const { source } = deps;
        const result = await createBackup({ objects, source, clock, keep, signal: stop.signal, onProgress });
        ended({ state: 'done', backup_id: result.id, bytes_done: result.bytes, bytes_stored: result.bytesSent });
        logger.info({ backup: result.id, bytes: result.bytes, stored: result.bytesSent }, 'a backup is complete');
      } finally {
        objects.close();
      }
    } catch (error) {
      ended({ state: 'failed', error: error instanceof Error ? error.message : String(error) });
      if (!stop.signal.aborted) logger.error({ err: error }, 'a backup failed; there is no new one');
    }
  }

  /** When the newest backup of the place was made, in Unix milliseconds; minus infinity if it has none. */
  async function newest(to: string): Promise<number> {
    const objects = await deps.openStore(to);
    try {
      const id = (await listSnapshots(objects)).at(-1);
      return id === undefined ? Number.NEGATIVE_INFINITY : timeOf(id);
    } finally {
      objects.close();
    }
  }

  async function startIfDue(): Promise<void> {
    const { to, everyMs, keep } = schedule;
    if (to === undefined || everyMs === undefined || view?.state === 'running') return;
    try {
      if (clock() - (await newest(to)) >= everyMs) start({ to, keep });
    } catch (error) {
      logger.error({ err: error }, 'the place of the backups cannot be read: no backup is made');
    }
  }
  let checking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    checking = checking.then(startIfDue);
  }, CHECK_EVERY_MS);
  timer.unref();

  return {
    start,
    current: () => view,
    defaults: { to: schedule.to, keep: schedule.keep },
    async close() {
      clearInterval(timer);
      stop.abort();
      await checking;
      await running;
    },
  };
}

const isoTime = (time: number): string => new Date(time).toISOString();

/** The time that a backup's ID names. */
function timeOf(id: string): number {
  return Date.parse(id.replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/, '$1-$2-$3T$4:$5:$6Z'));
}
