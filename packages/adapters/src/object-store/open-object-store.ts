import { fileURLToPath } from 'node:url';
import type { ObjectStore } from '@weir/ports/object-store';
import { openFileObjectStore } from './file-object-store.ts';
import type { S3Config } from './s3-object-store.ts';

export interface ObjectStoreConfig {
  /** `file:///folder` or `s3://bucket/prefix`. */
  readonly url: string;
  readonly s3: S3Config;
}

/** Returns what is wrong with the URL of an object store; `undefined` if it is valid. */
export function objectStoreUrlProblem(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'file:' && parsed.host === '' && parsed.pathname.length > 1) return undefined;
  if (parsed?.protocol === 's3:' && /^[a-z0-9][a-z0-9.-]{1,62}$/.test(parsed.host) && PREFIX.test(parsed.pathname)) {
    return undefined;
  }
  return `must be file:///folder or s3://bucket/prefix, not "${url}"`;
}

const PREFIX = /^(\/[A-Za-z0-9._=-]+)*\/?$/;

/** Opens a folder or a bucket. Does not read or write anything yet. */
export async function openObjectStore({ url, s3 }: ObjectStoreConfig): Promise<ObjectStore> {
  const problem = objectStoreUrlProblem(url);
  if (problem !== undefined) throw new TypeError(`an object store's URL ${problem}`);
  if (url.startsWith('file:')) return openFileObjectStore(fileURLToPath(url));
  const { host, pathname } = new URL(url);
  // The module is loaded only if it is used, because the SDK has 300 modules.
  const { openS3ObjectStore } = await import('./s3-object-store.ts');
  return openS3ObjectStore({ ...s3, bucket: host, prefix: pathname.split('/').filter(Boolean).join('/') });
}
