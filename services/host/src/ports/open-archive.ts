import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Config } from '@weir/runtime/config/config';

/**
 * Opens the object store of the archive. Resolves with undefined if `ARCHIVE_URL` is not set. Opening does not connect: if the store is
 * unavailable, the first call of the store fails.
 */
export async function openArchive({ archive, s3 }: Config): Promise<ObjectStore | undefined> {
  return archive === undefined ? undefined : openObjectStore({ url: archive.url, s3 });
}
