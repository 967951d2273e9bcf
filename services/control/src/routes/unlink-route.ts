import { profileId } from '@weir/domain/people/profile-id';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, notFound, ok, type Reply, unavailable } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';

/** Finds the user of a visitor. The result can be out of date, because ClickHouse may not have an identify record of the last seconds yet. */
const USER_OF_VISITOR = `SELECT profiles_latest.user_id AS user_id FROM profiles_latest
WHERE site_id = {site:String} AND profile_id != '' AND profile_id =
  (SELECT any(links.profile_id) FROM links WHERE links.site_id = {site:String} AND links.visitor_id = {visitor:String})
LIMIT 1`;

/**
 * Removes the link between a visitor and a user by appending a record to the log. A replay therefore removes the link again (docs/decisions/0013).
 */
export async function unlinkVisitor(
  deps: AdminDeps,
  { site: { siteId }, body: checked }: SiteRequest<{ readonly visitor_id: string; readonly user_id?: string }>,
): Promise<Reply> {
  const { eventLog, clock, newEventId } = deps;
  if ('problem' in checked) return invalid(checked.problem);
  const { visitor_id: visitorId } = checked.value;
  const userId = checked.value.user_id ?? (await userOf(deps, siteId, visitorId));
  if (userId === undefined) return notFound('a user of this visitor');
  const eventId = newEventId();
  // The record has the same partition key as the identify records of the user. So it is in the same partition, and undoes only the identify records
  // that are before it.
  const key = partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, true);
  const head = {
    eventId,
    kind: 'unlink',
    siteId,
    receivedAt: clock(),
    sealedIp: '',
    userAgent: '',
    acceptLanguage: '',
  } as const;
  const body = JSON.stringify({ visitor_id: visitorId, user_id: userId });
  const [appended] = await eventLog.append(TOPIC_RAW, [{ key, value: encodeRawRecord(head, body) }]);
  if (appended?.status !== 'stored') return unavailable('the event log is not available; send the request again');
  return ok({ visitor_id: visitorId, user_id: userId, profile_id: profileId(siteId, userId), unlinked: true });
}

async function userOf({ tables }: AdminDeps, site: string, visitor: string): Promise<string | undefined> {
  const rows = await tables.read(({ select }) => select<{ user_id: string }>(USER_OF_VISITOR, { site, visitor }));
  return rows[0]?.user_id;
}
