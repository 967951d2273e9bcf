import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BackupSource, backupFolder, type FrozenTables } from '@weir/backup/create-backup';
import { isErasingRows } from '@weir/control/retention/tables-in-use';
import { DependencyError, isDependencyError } from '@weir/domain/errors';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { holdsPause, nextSwap, pauseWriters, resumeWriters } from '@weir/writer/pause/pause-writers';

export interface BackupSourceDeps {
  readonly dataDir: string;
  readonly database: string;
  /** The embedded log. */
  readonly eventLog: EventLog & { copyTo(folder: string): Promise<void> };
  readonly analytics: { freezeTables(name: string): Promise<void> };
  readonly registry: Registry;
  readonly clock: () => number;
  readonly logger: Logger;
}

const FROZEN_NAME = 'weir_backup';
/** The longest wait until the writer has finished its current insert and paused. An insert usually takes less than a second. */
const PAUSE_LIMIT_MS = 30_000;
const RESUME_RETRY_MS = 1_000;
const RELEASE_RETRIES_MAX = 3;
const UUID = /UUID '([0-9a-f-]{36})'/;

export interface EmbeddedSource extends BackupSource {
  /** Call it when the process starts. Cleans up if the process was killed during a backup. Without this call, the writer could stay paused. */
  recover(): Promise<void>;
}

/** Returns the embedded engines of this process in the form in which a backup reads them. */
export function createBackupSource(deps: BackupSourceDeps): EmbeddedSource {
  const { dataDir, eventLog, analytics, registry, clock, logger } = deps;
  const clickhouseDir = join(dataDir, 'clickhouse');
  const partsDir = join(clickhouseDir, 'shadow', FROZEN_NAME);
  // If a call of `freezeTables` has timed out, ClickHouse can still add hard links to the folder. The removal is then retried.
  const release = (): Promise<void> => rm(partsDir, { recursive: true, force: true, maxRetries: RELEASE_RETRIES_MAX });
  const pauseDeps = { eventLog, registry, clock, owner: 'backup' } as const;
  /**
   * This file exists while the writer is paused for a backup, and contains the number of the pause. It stays if the process is killed during the
   * pause, or if the pause cannot be ended.
   */
  const pauseFile = join(dataDir, 'backup-pause');
  let retry: NodeJS.Timeout | undefined;

  /** The IDs of the erasures that have begun to change the tables. */
  const begunErasures = (): ReadonlySet<string> =>
    new Set(
      registry
        .erasures()
        .filter(({ phase }) => phase !== 'waiting' && phase !== 'resolving')
        .map(({ erasureId }) => erasureId),
    );

  const isChanging = (): boolean => registry.expiry() !== undefined || isErasingRows(registry);

  async function freezeTables(): Promise<FrozenTables> {
    // Removes the frozen parts of a backup during which the process was killed.
    await release();
    if (registry.writersPause()?.over === false) throw alreadyPaused();
    const begun = begunErasures();
    // An erasure or an expiry changes one table after the other. Tables that are frozen in the meantime would contradict each other.
    if (isChanging()) throw tablesChange();
    const swap = await nextSwap(pauseDeps);
    // The previous pause is over, but a retry of `endPause` can still be scheduled. It would end the new pause.
    clearTimeout(retry);
    await writeFile(pauseFile, String(swap), { flush: true });
    try {
      const paused = await pauseWriters(pauseDeps, swap, { limitMs: PAUSE_LIMIT_MS }).catch((error: unknown) => {
        // A `RangeError` means that a replay has begun a swap (docs/glossary.md) in the meantime.
        throw error instanceof RangeError ? alreadyPaused() : error;
      });
      if (paused.status === 'late') {
        throw new DependencyError(
          'analytics_unavailable',
          `the writer did not pause within ${PAUSE_LIMIT_MS} ms, so the tables cannot be frozen at one moment: try again when ClickHouse answers`,
        );
      }
      await analytics.freezeTables(FROZEN_NAME);
      const definitions = await readDefinitions(clickhouseDir, deps.database);
      // An erasure or an expiry can have begun, or an erasure can have ended, since the first check.
      if (isChanging() || [...begunErasures()].some((id) => !begun.has(id))) throw tablesChange();
      if (!holdsPause(pauseDeps, swap)) throw alreadyPaused();
      // The event log stores the pause. If the log were copied during the pause, the writer would be paused after a restore.
      if (!(await endPause()))
        throw new DependencyError('event_log_unavailable', 'the end of the pause cannot be stored');
      return { partsDir, definitions, release };
    } catch (error) {
      // The pause ends first, because the writer stores nothing during the pause.
      await endPause();
      await release().catch((err: unknown) =>
        logger.warn({ err }, 'the frozen parts of a failed backup cannot be removed: the next backup will try again'),
      );
      throw error;
    }
  }

  /**
   * Ends the pause, unless a replay has begun a swap (docs/glossary.md) in the meantime: the replay then ends the pause. Resolves with false if
   * the pause cannot be ended now, for example because the disk is full. Retries in the background then end it, because a paused writer
   * stores nothing.
   */
  async function endPause(): Promise<boolean> {
    try {
      if (!existsSync(pauseFile)) return true;
      const swap = Number(await readFile(pauseFile, 'utf8'));
      if (registry.writersPause()?.swap === swap) await resumeWriters(pauseDeps, swap);
      await rm(pauseFile, { force: true });
      return true;
    } catch (err) {
      logger.warn(
        isDependencyError(err) ? { code: err.code } : { err },
        'the pause of the writer for a backup cannot be ended now, and will be tried again',
      );
      clearTimeout(retry);
      retry = setTimeout(() => void endPause(), RESUME_RETRY_MS).unref();
      return false;
    }
  }

  async function recover(): Promise<void> {
    const pause = registry.writersPause();
    if (pause?.owner === 'backup' && !pause.over) await writeFile(pauseFile, String(pause.swap), { flush: true });
    await endPause();
    await release();
    await rm(backupFolder(dataDir), { recursive: true, force: true });
    await removeFormerCopies(join(dataDir, 'backup'));
  }

  return { logId: eventLog.logId, dataDir, copyLog: (folder) => eventLog.copyTo(folder), freezeTables, recover };
}

/** Throws `object_store_refused` if backups at this URL would be removed together with the copies of a running backup. */
export function assertOutsideCopies(url: string, dataDir: string): void {
  const copies = resolve(backupFolder(dataDir));
  if (url.startsWith('file:') && `${resolve(fileURLToPath(url))}/`.startsWith(`${copies}/`))
    throw new DependencyError(
      'object_store_refused',
      `Weir empties ${copies} after each backup: choose another folder`,
    );
}

/** Removes the copies of an interrupted backup of an earlier version. It kept only a folder `log` there. Other content is a backup. */
async function removeFormerCopies(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 1 && names[0] === 'log') await rm(folder, { recursive: true });
}

function tablesChange(): DependencyError {
  return new DependencyError(
    'analytics_unavailable',
    'an erasure or the removal of expired rows is changing the tables: try again when it has ended',
  );
}

function alreadyPaused(): DependencyError {
  return new DependencyError(
    'analytics_unavailable',
    'the writer is paused, for a replay that exchanges the tables or for a backup that has just ended: try again in a minute',
  );
}

/** The definitions of the database and of all its tables, including empty tables. ClickHouse reads these files when it starts. */
async function readDefinitions(clickhouseDir: string, database: string): Promise<FrozenTables['definitions']> {
  const names = [`metadata/${database}.sql`];
  const read = async (name: string): Promise<string> => readFile(join(clickhouseDir, name), 'utf8');
  const folder = storeFolder(await read(names[0] as string), database);
  for (const file of (await readdir(join(clickhouseDir, folder))).filter((name) => name.endsWith('.sql')).sort()) {
    const name = `${folder}/${file}`;
    names.push(name);
    const version = `${storeFolder(await read(name), file)}/format_version.txt`;
    if (existsSync(join(clickhouseDir, version))) names.push(version);
  }
  return Promise.all(names.map(async (name) => ({ name, content: await readFile(join(clickhouseDir, name)) })));
}

function storeFolder(definition: string, name: string): string {
  const uuid = UUID.exec(definition)?.[1];
  if (uuid === undefined) throw new Error(`the definition of ${name} names no UUID`);
  return `store/${uuid.slice(0, 3)}/${uuid}`;
}
