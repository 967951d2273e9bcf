import { FieldError } from '@weir/domain/field-error';
import { createAppendEvent } from '../append-event.ts';
import type { RouteDeps } from '../gateway-deps.ts';
import { type KeyedRequest, keyedRoute } from '../keyed-route.ts';
import type { Replies } from '../reply.ts';
import type { Handle } from '../route.ts';

const ACCEPTED = JSON.stringify({ status: 'success', data: { accepted: true } });
const DUPLICATE = JSON.stringify({ status: 'success', data: { accepted: false, duplicate: true } });

/** POST /api/v1/events (api.md 4.1). */
export function eventsRoute(deps: RouteDeps, replies: Replies): Handle {
  const appendEvent = createAppendEvent(deps);

  const accept = async ({ request, response, key, limit, body }: KeyedRequest) => {
    const appended = appendEvent({ request, siteId: key.siteId, json: body.json, text: body.text });
    if (appended instanceof FieldError) return replies.error(response, 400, appended.message);
    const result = await appended;
    if (result === 'stored') replies.json(response, 202, ACCEPTED, limit);
    else if (result === 'duplicate') replies.json(response, 200, DUPLICATE, limit);
    else replies.unavailable(response);
  };

  return keyedRoute(deps, replies, { bucket: 'events', scope: 'events:write', accept });
}
