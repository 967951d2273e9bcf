import { UNLINK } from '@weir/domain/admin-schemas';
import { createEventIds } from '@weir/domain/event-id';
import { partitionKey } from '@weir/domain/partition-key';
import { profileId } from '@weir/domain/profile-id';
import { encodeRawRecord } from '@weir/domain/raw-record';
import { TOPIC_RAW } from '@weir/domain/topics';
import type { Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute, param } from '../define-route.ts';
import { invalid, notFound, ok, unavailable } from '../reply.ts';
import { compileBody } from '../validate.ts';

/** Whom a visitor belongs to as far as the rows tell; an identify of this very second may not be among them yet. */
const USER_OF_VISITOR = `SELECT profiles_latest.user_id AS user_id FROM profiles_latest
WHERE site_id = {site:String} AND profile_id != '' AND profile_id =
  (SELECT any(links.profile_id) FROM links WHERE links.site_id = {site:String} AND links.visitor_id = {visitor:String})
LIMIT 1`;

/** Takes a visitor away from a user: a record of the log, so that a replay takes it away again (docs/decisions/0013). */
export function unlinkRoutes(router: Router, deps: ControlDeps): void {
  const { registry, eventLog, analytics, clock, randomBytes } = deps;
  const check = compileBody<{ readonly visitor_id: string; readonly user_id?: string }>(UNLINK);
  const newEventId = createEventIds(clock, (bytes) => bytes.set(randomBytes(bytes.length)));

  defineRoute(router, '/sites/:site_id/unlink', {
    post: async (request) => {
      const siteId = param(request, 'site_id');
      if (registry.site(siteId) === undefined) return notFound('site');
      const checked = check(request.body);
      if ('problem' in checked) return invalid(checked.problem);
      const { visitor_id: visitorId } = checked.value;
      const userId = checked.value.user_id || (await userOf(siteId, visitorId));
      if (userId === undefined) return notFound('a user of this visitor');
      const eventId = newEventId();
      // Under the user's key, as its identifies: what came before in the log is taken back, what comes after counts.
      const key = partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, true);
      const head = {
        eventId,
        kind: 'unlink',
        siteId,
        receivedAt: clock(),
        ip: '',
        userAgent: '',
        acceptLanguage: '',
      } as const;
      const body = JSON.stringify({ visitor_id: visitorId, user_id: userId });
      const [appended] = await eventLog.append(TOPIC_RAW, [{ key, value: encodeRawRecord(head, body) }]);
      if (appended?.status !== 'stored') return unavailable('the event log is away');
      return ok({ visitor_id: visitorId, user_id: userId, profile_id: profileId(siteId, userId), unlinked: true });
    },
  });

  async function userOf(site: string, visitor: string): Promise<string | undefined> {
    const rows = await analytics.select<{ user_id: string }>(USER_OF_VISITOR, { site, visitor });
    return rows[0]?.user_id;
  }
}
