import { acceptIdentity } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import { TRAITS_MAX } from '@weir/domain/people/identity';
import { profileId } from '@weir/domain/people/profile-id';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { buildEnvelope } from '../append/envelope.ts';
import type { RouteDeps } from '../gateway-deps.ts';
import { type AuthenticatedRequest, authenticatedRoute } from '../http/authenticated-route.ts';
import type { Replies } from '../http/gateway-reply.ts';
import { forgetJson } from '../http/read-request-body.ts';
import type { AuthenticatedRoute, Handle } from '../http/route.ts';

/** Handles POST /api/identify (docs/api.md). */
export function identifyRoute(deps: RouteDeps, replies: Replies, route: AuthenticatedRoute): Handle {
  const { batcher, clock, newEventId, clientIpOf, addressSealer, traitsDropped } = deps;

  const accept = async ({ request, response, key, limit, body }: AuthenticatedRequest) => {
    const identity = acceptIdentity(body.json, () => body.text);
    if (identity instanceof FieldError) return replies.error(response, 400, identity.message);
    const { siteId } = key;
    if (identity.siteId !== '' && identity.siteId !== siteId) {
      return replies.error(response, 403, 'Identify key site mismatch');
    }
    const { userId, visitorId, droppedTraits } = identity;
    forgetJson(body);
    const eventId = newEventId();
    const receivedAt = clock();
    const sealed = addressSealer.seal(clientIpOf(request), receivedAt);
    const sealedIp = typeof sealed === 'string' ? sealed : await sealed;
    if (sealedIp === undefined) return replies.unavailable(response);
    const head = buildEnvelope(request, { eventId, kind: 'identify', siteId, receivedAt, sealedIp });
    const result = await batcher.append(
      {
        key: partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, true),
        value: encodeRawRecord(head, body.text),
      },
      undefined,
      key,
    );
    if (result !== 'stored') return replies.unavailable(response);
    traitsDropped('over_limit', droppedTraits);
    const data = { message: 'User identified', profileId: profileId(siteId, userId), ...warning(droppedTraits) };
    replies.json(response, 200, JSON.stringify({ status: 'success', data }), limit);
  };

  return authenticatedRoute(deps, replies, route, accept);
}

function warning(dropped: number): { warning?: string } {
  if (dropped === 0) return {};
  const traits =
    dropped === 1
      ? `1 custom trait beyond the limit of ${TRAITS_MAX} was`
      : `${dropped} custom traits beyond the limit of ${TRAITS_MAX} were`;
  return { warning: `${traits} dropped` };
}
