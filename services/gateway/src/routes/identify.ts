import { FieldError } from '@weir/domain/field-error';
import { readIdentity } from '@weir/domain/identity';
import { partitionKey } from '@weir/domain/partition-key';
import { profileId } from '@weir/domain/profile-id';
import { encodeRawRecord } from '@weir/domain/raw-record';
import type { RouteDeps } from '../gateway-deps.ts';
import { type KeyedRequest, keyedRoute } from '../keyed-route.ts';
import { recordHead } from '../record-head.ts';
import type { Replies } from '../reply.ts';
import type { Handle } from '../route.ts';

/** POST /api/identify (api.md 4.2). */
export function identifyRoute(deps: RouteDeps, replies: Replies): Handle {
  const { batcher, clock, newEventId, clientAddress } = deps;

  const accept = async ({ request, response, key, limit, body }: KeyedRequest) => {
    const identity = readIdentity(body.json, () => body.text);
    if (identity instanceof FieldError) return replies.error(response, 400, identity.message);
    const { siteId } = key;
    if (identity.siteId !== '' && identity.siteId !== siteId) {
      return replies.error(response, 403, 'Identify key site mismatch');
    }
    const eventId = newEventId();
    const head = recordHead(request, {
      eventId,
      kind: 'identify',
      siteId,
      receivedAt: clock(),
      ip: clientAddress(request),
    });
    const { userId, visitorId, droppedTraits } = identity;
    const result = await batcher.append(
      {
        key: partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, true),
        value: encodeRawRecord(head, body.text),
      },
      undefined,
    );
    if (result !== 'stored') return replies.unavailable(response);
    const data = { message: 'User identified', profileId: profileId(siteId, userId), ...warning(droppedTraits) };
    replies.json(response, 200, JSON.stringify({ status: 'success', data }), limit);
  };

  return keyedRoute(deps, replies, { bucket: 'identify', scope: 'identify:write', accept });
}

function warning(dropped: number): { warning?: string } {
  if (dropped === 0) return {};
  const traits =
    dropped === 1
      ? '1 custom trait beyond the limit of 25 was'
      : `${dropped} custom traits beyond the limit of 25 were`;
  return { warning: `${traits} dropped` };
}
