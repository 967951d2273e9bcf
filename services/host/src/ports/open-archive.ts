import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Config } from '@weir/runtime/config/config';
import type { Stack } from '../stack.ts';

/**
 * Opens the object store of the archive, and registers it in `stack`. Resolves with undefined if `ARCHIVE_URL` is not set. Opening does not
 * connect: if the store is unavailable, the first call of the store fails.
 */
export async function openArchive({ archive, s3 }: Config, stack: Stack): Promise<ObjectStore | undefined> {
  return archive === undefined ? undefined : stack.add(await openObjectStore({ url: archive.url, s3 }));
}
