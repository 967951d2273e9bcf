import { fileURLToPath } from 'node:url';
import { objectStoreUrlProblem } from '@weir/domain/net/object-store-url';
import type { ObjectStore } from '@weir/ports/object-store';
import { openFileObjectStore } from './file-object-store.ts';
import type { S3Config } from './s3-object-store.ts';

export interface ObjectStoreConfig {
  /** The place of the objects: `file:///folder` or `s3://bucket/prefix`. */
  readonly url: string;
  readonly s3: S3Config;
  /** The mode of the folders that a `file://` store creates, for example 0o700. Default: as the umask allows. */
  readonly folderMode?: number;
}

/** Opens a folder or a bucket, without reading or writing anything. Throws `TypeError` for an invalid URL. */
export async function openObjectStore({ url, s3, folderMode }: ObjectStoreConfig): Promise<ObjectStore> {
  const problem = objectStoreUrlProblem(url);
  if (problem !== undefined) throw new TypeError(`an object store's URL ${problem}`);
  if (url.startsWith('file:')) return openFileObjectStore(fileURLToPath(url), folderMode);
  const { host, pathname } = new URL(url);
  // The import is dynamic because the S3 SDK has 300 modules: they are loaded only if they are used.
  const { openS3ObjectStore } = await import('./s3-object-store.ts');
  return openS3ObjectStore({ ...s3, bucket: host, prefix: pathname.split('/').filter(Boolean).join('/') });
}
