import type { ObjectStore } from '@weir/ports/object-store';

/** No upload takes longer, so an older temporary file belongs to an upload that was interrupted. */
const UPLOAD_MS_MAX = 24 * 3_600_000;

/** Resolves when the leftovers of interrupted uploads are removed from the archive. A leftover that is younger than a day stays. */
export function removeLeftovers(store: Pick<ObjectStore, 'removeLeftovers'>, nowMs: number): Promise<void> {
  return store.removeLeftovers(nowMs - UPLOAD_MS_MAX);
}
