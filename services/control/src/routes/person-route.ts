import { Readable } from 'node:stream';
import { newErasureSalt } from '@weir/domain/erasure/tombstone';
import { USER_ID_CHARS_MAX, VISITOR_ID_CHARS_MAX } from '@weir/domain/registry/admin-limits';
import type { AdminDeps } from '../control-deps.ts';
import { exportPerson } from '../erasure/export-person.ts';
import { invalid, type Reply } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';
import type { StreamReply } from '../http/send-stream.ts';

/** Sends the stored data of a person as one JSON object (`exportPerson`). */
export async function readPerson(
  deps: AdminDeps,
  { site: { siteId }, http }: SiteRequest,
): Promise<Reply | StreamReply> {
  const { exportedTables, clock, randomBytes } = deps;
  const { visitor_id: visitorId = '', user_id: userId = '' } = http.query;
  if (typeof visitorId !== 'string' || typeof userId !== 'string' || (visitorId === '') === (userId === '')) {
    return invalid('name either visitor_id or user_id');
  }
  if (isLonger(visitorId, VISITOR_ID_CHARS_MAX)) {
    return invalid(`visitor_id must be at most ${VISITOR_ID_CHARS_MAX} chars`);
  }
  if (isLonger(userId, USER_ID_CHARS_MAX)) return invalid(`user_id must be at most ${USER_ID_CHARS_MAX} chars`);
  const salt = newErasureSalt(randomBytes);
  const pieces = exportPerson(exportedTables, { siteId, visitorId, userId, at: clock(), salt });
  // The answer has not begun yet, so an error here gets an error status.
  const first = await pieces.next();
  return { status: 200, stream: Readable.from(all()), contentType: 'application/json' };

  async function* all() {
    yield String(first.value);
    yield* pieces;
  }
}

/** Whether a text has more than `max` Unicode code points. */
function isLonger(text: string, max: number): boolean {
  return [...text].length > max;
}
