import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dropCommits } from '@weir/adapters/lmdb/lmdb-drop-commits';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { GROUP_WRITER } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';

/** A folder, `file://` or `s3://` as the URL of an object store. A relative folder counts from the current one. */
export function backupUrl(place: string): string {
  return /^(file|s3):/.test(place) ? place : pathToFileURL(place).href;
}

export function openBackups(place: string, env: Readonly<Record<string, string | undefined>>): Promise<ObjectStore> {
  const endpoint = env.S3_ENDPOINT || undefined;
  const s3 = { endpoint, region: env.S3_REGION || 'us-east-1', pathStyle: env.S3_PATH_STYLE === 'true' };
  return openObjectStore({ url: backupUrl(place), s3 });
}

/** The writer's commits are younger than the restored tables. Without them it continues after what the tables hold. */
export function dropWriterCommits(dataDir: string): Promise<void> {
  return dropCommits(join(dataDir, 'log'), GROUP_WRITER);
}
