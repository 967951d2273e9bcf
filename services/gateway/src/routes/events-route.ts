import type { IncomingMessage } from 'node:http';
import { FieldError } from '@weir/domain/ingest/field-error';
import { createAppendEvent } from '../append/append-event.ts';
import type { RouteDeps } from '../gateway-deps.ts';
import { type AuthenticatedRequest, authenticatedRoute } from '../http/authenticated-route.ts';
import type { Replies } from '../http/gateway-reply.ts';
import { forgetJson } from '../http/read-request-body.ts';
import type { AuthenticatedRoute, Handle } from '../http/route.ts';

const ACCEPTED = JSON.stringify({ status: 'success', data: { accepted: true } });
const DUPLICATE = JSON.stringify({ status: 'success', data: { accepted: false, duplicate: true } });

/**
 * Reads the header `Idempotency-Key`. If the header was sent twice, Node joins the values with a comma, which makes the key invalid.
 */
function headerKeyOf(request: IncomingMessage): string {
  return (request.headers['idempotency-key'] as string | undefined) ?? '';
}

/** Handles POST /api/v1/events (docs/api.md). */
export function eventsRoute(deps: RouteDeps, replies: Replies, route: AuthenticatedRoute): Handle {
  const appendEvent = createAppendEvent(deps);

  const accept = async ({ request, response, key, limit, body }: AuthenticatedRequest) => {
    const appended = appendEvent({ request, key, json: body.json, text: body.text, headerKey: headerKeyOf(request) });
    forgetJson(body);
    if (appended instanceof FieldError) return replies.error(response, 400, appended.message);
    const result = await appended;
    if (result === 'stored') replies.json(response, 202, ACCEPTED, limit);
    else if (result === 'duplicate') replies.json(response, 200, DUPLICATE, limit);
    else replies.unavailable(response);
  };

  return authenticatedRoute(deps, replies, route, accept);
}
