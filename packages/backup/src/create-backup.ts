import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isDependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import { type ChunkRepository, deleteUnusedChunks, openChunkRepository } from './chunk-repository.ts';
import {
  deleteSnapshot,
  listSnapshots,
  readSnapshot,
  SNAPSHOT_VERSION,
  type Snapshot,
  type SnapshotItem,
  snapshotId,
  writeSnapshot,
} from './snapshot.ts';

/** What a backup needs of the running process. All paths are absolute. */
export interface BackupSource {
  readonly logId: string;
  readonly dataDir: string;
  /** Copies the event log as it is now, including the registry and the commits, but without the salts (docs/glossary.md), to `<folder>/data.mdb`. */
  copyLog(folder: string): Promise<void>;
  /**
   * Freezes all tables at one moment, between two inserts, and resolves with the frozen files. Inserts pause meanwhile, usually for
   * less than a second; everything else continues.
   */
  freezeTables(): Promise<FrozenTables>;
}

export interface FrozenTables {
  /**
   * The folder with the frozen parts of the tables. A part is a folder `store/<first 3 characters of the UUID>/<UUID of the table>/<part>/`
   * in it.
   */
  readonly partsDir: string;
  /** The files with the definitions that the tables had when they were frozen. Names are relative to ClickHouse's folder. */
  readonly definitions: readonly { readonly name: string; readonly content: Buffer }[];
  release(): Promise<void>;
}

export interface BackupProgress {
  readonly phase: 'tables' | 'log' | 'upload';
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface BackupResult {
  readonly id: string;
  readonly bytes: number;
  /** Compressed bytes that this backup added. Earlier backups already stored the rest. */
  readonly bytesSent: number;
}

export interface CreateBackupOptions {
  readonly objects: ObjectStore;
  readonly source: BackupSource;
  readonly clock: () => number;
  /** How many backups are kept; older ones are deleted. If it is undefined, no backup is deleted. */
  readonly keep: number | undefined;
  readonly signal: AbortSignal;
  onProgress(progress: BackupProgress): void;
  /** Receives what an operator should know although the backup is complete. */
  onWarning(message: string): void;
}

/** Where a running backup keeps its copies. Each backup and each start of Weir empties this folder. */
export function backupFolder(dataDir: string): string {
  return join(dataDir, 'backup-copies');
}

/** The file in a part of a table with the checksums of all other files of the part. */
const CHECKSUMS = 'checksums.txt';

/**
 * Makes a backup while everything runs. The tables are frozen before the log is copied, so the copied log has every record that the
 * tables have. After a restore, the writer inserts the records that the tables lack. The writer's commits in the log are newer than
 * the tables, so a restore deletes these commits. The writer then continues after the highest raw offset (docs/glossary.md) in the tables. The
 * state store is not copied, because it is a cache of the log.
 */
export async function createBackup(options: CreateBackupOptions): Promise<BackupResult> {
  const { objects, source, clock, keep, signal, onProgress, onWarning } = options;
  const id = snapshotId(clock());
  const work = backupFolder(source.dataDir);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  let frozen: FrozenTables | undefined;
  try {
    onProgress({ phase: 'tables', bytesDone: 0, bytesTotal: 0 });
    frozen = await source.freezeTables();
    onProgress({ phase: 'log', bytesDone: 0, bytesTotal: 0 });
    await mkdir(join(work, 'log'));
    await source.copyLog(join(work, 'log'));

    const before = (await listSnapshots(objects)).at(-1);
    const former = new Map<string, SnapshotItem>();
    if (before !== undefined) {
      for (const item of (await readableSnapshot(objects, before, onWarning))?.items ?? [])
        former.set(item.folder, item);
    }
    const repository = await openChunkRepository(objects);
    const parts = await findParts(frozen.partsDir);
    const definitionBytes = frozen.definitions.reduce((sum, { content }) => sum + content.length, 0);
    const bytesTotal = definitionBytes + (await sumBytes([...parts, join(work, 'log')]));
    let bytesDone = 0;
    const items: SnapshotItem[] = [];
    const add = (item: SnapshotItem): void => {
      items.push(item);
      bytesDone += item.files.reduce((sum, { bytes }) => sum + bytes, 0);
      onProgress({ phase: 'upload', bytesDone, bytesTotal });
      signal.throwIfAborted();
    };
    add(await storeFolder(repository, join(work, 'log'), 'log'));
    add(await storeDefinitions(repository, frozen));
    for (const part of parts) {
      const folder = join('clickhouse', relative(frozen.partsDir, part));
      const key = createHash('sha256')
        .update(await readFile(join(part, CHECKSUMS)))
        .digest('hex');
      const same = former.get(folder);
      // A chunk of the previous backup can have been lost. The part is then read and stored again.
      add(
        same?.key === key && same.chunks.every(repository.has)
          ? same
          : { ...(await storeFolder(repository, part, folder)), key },
      );
    }
    const createdAt = new Date(clock()).toISOString();
    await writeSnapshot(objects, { version: SNAPSHOT_VERSION, id, createdAt, logId: source.logId, items });
    if (keep !== undefined) await expireBackups(objects, id, keep, onWarning);
    return { id, bytes: bytesDone, bytesSent: repository.bytesSent() };
  } finally {
    await frozen?.release();
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Keeps `keep` backups and deletes the older ones. Always keeps `made`, the new backup: backups that were made with a wrong clock can have newer IDs.
 * If it has deleted a backup, also deletes the chunks that no kept backup uses. If a kept backup cannot be read, deletes no chunk.
 */
async function expireBackups(
  objects: ObjectStore,
  made: string,
  keep: number,
  onWarning: CreateBackupOptions['onWarning'],
): Promise<void> {
  const ids = await listSnapshots(objects);
  const old = ids.filter((id) => id !== made).slice(0, Math.max(0, ids.length - keep));
  if (old.length === 0) return;
  for (const id of old) await deleteSnapshot(objects, id);
  const used = new Set<string>();
  for (const id of ids.filter((kept) => !old.includes(kept))) {
    const kept = await readableSnapshot(objects, id, onWarning);
    if (kept === undefined) return;
    for (const { chunks } of kept.items) for (const chunk of chunks) used.add(chunk);
  }
  await deleteUnusedChunks(objects, used);
}

/** Resolves with undefined, after a warning, if the snapshot is damaged or has another version. */
async function readableSnapshot(
  objects: ObjectStore,
  id: string,
  onWarning: CreateBackupOptions['onWarning'],
): Promise<Snapshot | undefined> {
  try {
    return await readSnapshot(objects, id);
  } catch (error) {
    if (!isDependencyError(error, 'object_store_damaged')) throw error;
    onWarning(
      `a former backup cannot be read, so nothing of it is used: ${error.message}. Delete snapshots/${id}.json if it is not needed`,
    );
    return undefined;
  }
}

async function storeFolder(repository: ChunkRepository, path: string, folder: string): Promise<SnapshotItem> {
  const names = await filesBelow(path);
  const files = await Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(path, name))).size })));
  async function* content(): AsyncIterable<Uint8Array> {
    for (const name of names) yield* createReadStream(join(path, name)) as AsyncIterable<Uint8Array>;
  }
  const { chunks, bytes } = await repository.store(content());
  const expected = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes !== expected) throw new Error(`${path} changed while it was read: ${bytes} bytes instead of ${expected}`);
  return { folder, files, chunks };
}

async function storeDefinitions(repository: ChunkRepository, { definitions }: FrozenTables): Promise<SnapshotItem> {
  async function* content(): AsyncIterable<Uint8Array> {
    for (const definition of definitions) yield definition.content;
  }
  const files = definitions.map(({ name, content: { length } }) => ({ name, bytes: length }));
  return { folder: 'clickhouse', files, chunks: (await repository.store(content())).chunks };
}

/** All files below a folder, relative to it, in the order of their names. */
async function filesBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .sort();
}

/** The paths of the folders of all parts: `<partsDir>/store/<first 3 characters>/<UUID of the table>/<part>`. */
async function findParts(partsDir: string): Promise<readonly string[]> {
  let level = [join(partsDir, 'store')];
  for (let depth = 0; depth < 3; depth++) {
    const below = await Promise.all(
      level.map(async (folder) =>
        (await readdir(folder, { withFileTypes: true }))
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => join(folder, name)),
      ),
    );
    level = below.flat();
  }
  return level.sort();
}

async function sumBytes(folders: readonly string[]): Promise<number> {
  let sum = 0;
  for (const folder of folders) {
    for (const name of await filesBelow(folder)) sum += (await stat(join(folder, name))).size;
  }
  return sum;
}
