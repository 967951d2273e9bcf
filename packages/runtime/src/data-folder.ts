import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DependencyError, messageOf } from '@weir/domain/errors';
import { RECORDS_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import { createFolder } from './disk/create-folder.ts';
import { syncFolder } from './disk/sync-folder.ts';
import { type FileLock, lockFile } from './native/file-lock.ts';

const WAIT_FOR_OTHER_MS = 5_000;

/** Each release that changes a format in the data folder adds 1. Changes of the column list (records-columns.ts) do not count here. */
const FORMATS = 2;
/** The version of the column list (records-columns.ts) that format 2 has. */
const COLUMNS_OF_FORMAT_2 = 2;

/**
 * One version number for the formats of all files in the data folder: event log, state, claims (docs/glossary.md) and tables. A change that older
 * releases cannot read must raise FORMATS, so that they refuse the folder and do not damage it (docs/operations.md, "Upgrade and downgrade"). A
 * new version of the column list raises DATA_FORMAT automatically, because older releases cannot read its records.
 */
export const DATA_FORMAT = FORMATS + RECORDS_COLUMNS_VERSION - COLUMNS_OF_FORMAT_2;

/** A folder in the data folder, which exists while a backup is restored into it. */
export const RESTORE_PART = 'restore.part';

export interface DataFolder {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Creates the data folder (mode 700) and locks it for this process group, with a kernel lock on the file `lock` in it.
 * Resolves when it has the lock. Waits up to 5 s for another process group, then rejects with `data_folder_in_use`. Rejects with
 * `data_folder_unusable` if the folder cannot be written, its file system has no locks, or a restore of a backup into it is not complete, and with
 * `data_folder_too_new` if a newer version of Weir has used it.
 */
export async function lockDataFolder(path: string): Promise<DataFolder> {
  let lock: FileLock | undefined;
  try {
    await createFolder(path, 0o700);
    lock = await lockFile(join(path, 'lock'), WAIT_FOR_OTHER_MS);
  } catch (error) {
    throw new DependencyError('data_folder_unusable', `cannot lock ${path}: ${messageOf(error)}`, { cause: error });
  }
  if (lock === undefined) {
    throw new DependencyError(
      'data_folder_in_use',
      `${path} is in use by another Weir; stop that one or set WEIR_DATA_DIR`,
    );
  }
  const held = lock;
  try {
    if (existsSync(join(path, RESTORE_PART))) {
      throw new DependencyError(
        'data_folder_unusable',
        `a restore of a backup into ${path} is not complete: wait until it ends, or delete the content of the folder and restore again`,
      );
    }
    await checkFormat(path);
  } catch (error) {
    held.close();
    throw error;
  }
  return { path, close: async () => held.close() };
}

/** Refuses a folder whose file `format` contains a higher number than DATA_FORMAT. Otherwise writes DATA_FORMAT to this file. */
async function checkFormat(folder: string): Promise<void> {
  const path = join(folder, 'format');
  const found = readFormat(path);
  if (found > DATA_FORMAT) {
    throw new DependencyError(
      'data_folder_too_new',
      `${folder} was used by a newer version of Weir: it has format ${found}, and this version reads format ${DATA_FORMAT}. Start the newer version, or restore a backup that is older than the upgrade`,
    );
  }
  if (found === DATA_FORMAT) return;
  try {
    writeFileSync(`${path}.part`, `${DATA_FORMAT}\n`, { flush: true });
    renameSync(`${path}.part`, path);
    await syncFolder(folder);
  } catch (error) {
    throw new DependencyError('data_folder_unusable', `cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Returns the number in the file `format`; 0 if there is none. Without the file, the folder is new, or only versions before 0.1.0 have used it. */
function readFormat(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw new DependencyError('data_folder_unusable', `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}
