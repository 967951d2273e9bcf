import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dropCommits } from '@weir/adapters/lmdb/lmdb-drop-commits';
import { GROUP_WRITER } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';
import type { CliEnvironment } from './cli-config.ts';
import { openObjects } from './open-objects.ts';

/** A folder, `file://` or `s3://` as the URL of an object store. A relative folder counts from the current one. */
export function backupUrl(place: string): string {
  return /^(file|s3):/.test(place) ? place : pathToFileURL(place).href;
}

export function openBackups(place: string, env: CliEnvironment): Promise<ObjectStore> {
  return openObjects(backupUrl(place), env);
}

/** The writer's commits are younger than the restored tables. Without them it continues after what the tables hold. */
export function dropWriterCommits(dataDir: string): Promise<void> {
  return dropCommits(join(dataDir, 'log'), GROUP_WRITER);
}
