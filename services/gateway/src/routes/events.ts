import { FieldError } from '@weir/domain/field-error';
import { partitionKey } from '@weir/domain/partition-key';
import { encodeRawRecord } from '@weir/domain/raw-record';
import { checkServerEvent } from '@weir/domain/server-event';
import type { RouteDeps } from '../gateway-deps.ts';
import { type KeyedRequest, keyedRoute } from '../keyed-route.ts';
import { recordHead } from '../record-head.ts';
import type { Replies } from '../reply.ts';
import type { Handle } from '../route.ts';

const ACCEPTED = JSON.stringify({ status: 'success', data: { accepted: true } });
const DUPLICATE = JSON.stringify({ status: 'success', data: { accepted: false, duplicate: true } });

/** POST /api/v1/events (api.md 4.1). */
export function eventsRoute(deps: RouteDeps, replies: Replies): Handle {
  const { batcher, clock, newEventId, clientAddress } = deps;

  const accept = async ({ request, response, key, limit, body }: KeyedRequest) => {
    const event = checkServerEvent(body.json);
    if (event instanceof FieldError) return replies.error(response, 400, event.message);
    const { siteId } = key;
    const eventId = newEventId();
    const head = recordHead(request, {
      eventId,
      kind: 'event',
      siteId,
      receivedAt: clock(),
      ip: clientAddress(request),
    });
    const { idempotency_key: idempotencyKey = '', visitor_id: visitorId = '', user_id: userId = '' } = event;
    const result = await batcher.append(
      {
        key: partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey }, false),
        value: encodeRawRecord(head, body.text),
      },
      idempotencyKey === '' ? undefined : { siteId, key: idempotencyKey, owner: eventId },
    );
    if (result === 'stored') replies.json(response, 202, ACCEPTED, limit);
    else if (result === 'duplicate') replies.json(response, 200, DUPLICATE, limit);
    else replies.unavailable(response);
  };

  return keyedRoute(deps, replies, { bucket: 'events', scope: 'events:write', accept });
}
