import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Config } from '@weir/runtime/config/config';

/**
 * Opens the object store of the archive; undefined if `ARCHIVE_URL` is not set. Weir only notices that the store is unavailable
 * when it stores a segment.
 */
export async function openArchive({ archive, s3 }: Config): Promise<ObjectStore | undefined> {
  return archive === undefined ? undefined : openObjectStore({ url: archive.url, s3 });
}
