import { v5 } from 'uuid';

/** Must never change: all stored profile IDs depend on it. */
const NAMESPACE = 'b7c0e5a4-52f1-4f0e-9d3b-0a6f6d1c8e27';

/**
 * The stable ID of a site's user (docs/api.md, POST /api/identify): the same in every process and after every restart. It is computed
 * from UTF-8 bytes, in which an unpaired surrogate is U+FFFD, as in the tables. For a string with an unpaired surrogate, `uuid` would throw.
 */
export function profileId(siteId: string, userId: string): string {
  return v5(Buffer.from(`${siteId}\0${userId}`), NAMESPACE);
}
