import { v5 } from 'uuid';

/** Must never change: all stored profile IDs depend on it. */
const NAMESPACE = 'b7c0e5a4-52f1-4f0e-9d3b-0a6f6d1c8e27';

/**
 * The stable ID of a site's user (docs/api.md, POST /api/identify): the same on any node, after any restart. Of its bytes, in which half
 * a surrogate pair is U+FFFD, as in the tables: uuid itself throws at one.
 */
export function profileId(siteId: string, userId: string): string {
  return v5(Buffer.from(`${siteId}\0${userId}`), NAMESPACE);
}
