import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupSource, FrozenTables } from '@weir/backup/create-backup';
import { DependencyError } from '@weir/domain/errors';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { nextSwap, pauseWriters, resumeWriters } from '@weir/writer/pause/pause-writers';

export interface BackupSourceDeps {
  readonly dataDir: string;
  readonly database: string;
  /** The embedded log. */
  readonly eventLog: EventLog & { copyTo(folder: string): Promise<void> };
  readonly analytics: { freezeTables(name: string): Promise<void> };
  readonly registry: Registry;
  readonly clock: () => number;
}

const FROZEN_NAME = 'weir_backup';
/** The writer finishes the insert under way; an insert takes less than a second. */
const PAUSE_LIMIT_MS = 30_000;
const UUID = /UUID '([0-9a-f-]{36})'/;

/** The embedded engines of this process, as a backup reads them. */
export function createBackupSource(deps: BackupSourceDeps): BackupSource {
  const { dataDir, eventLog, analytics, registry, clock } = deps;
  const clickhouseDir = join(dataDir, 'clickhouse');
  const partsDir = join(clickhouseDir, 'shadow', FROZEN_NAME);
  const release = (): Promise<void> => rm(partsDir, { recursive: true, force: true });

  async function freezeTables(): Promise<FrozenTables> {
    // Of a process that was killed during a backup.
    await release();
    const pauseDeps = { eventLog, registry, clock };
    const paused = await pauseWriters(pauseDeps, await nextSwap(pauseDeps), { limitMs: PAUSE_LIMIT_MS });
    if (paused.status === 'late') {
      throw new DependencyError(
        'analytics_unavailable',
        `the writer did not pause within ${PAUSE_LIMIT_MS} ms, so the tables cannot be frozen at one moment: try again when ClickHouse answers`,
      );
    }
    try {
      await analytics.freezeTables(FROZEN_NAME);
      return { partsDir, definitions: await readDefinitions(clickhouseDir, deps.database), release };
    } catch (error) {
      await release();
      throw error;
    } finally {
      await resumeWriters(pauseDeps);
    }
  }

  return { logId: eventLog.logId, dataDir, copyLog: (folder) => eventLog.copyTo(folder), freezeTables };
}

/** The files from which ClickHouse knows the database and its tables at its start, empty ones too. */
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
