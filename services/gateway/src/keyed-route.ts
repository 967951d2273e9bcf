import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKey, Scope } from '@weir/domain/site';
import type { RateLimit } from '@weir/ports/rate-limiter';
import type { RouteDeps } from './gateway-deps.ts';
import { type Body, readBody } from './read-body.ts';
import type { Replies } from './reply.ts';
import { CONTENT_TYPE_MESSAGE, type Handle, isJsonContent } from './route.ts';

export interface KeyedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly key: ApiKey;
  readonly limit: RateLimit;
  readonly body: Exclude<Body, { status: number }>;
}

export interface KeyedRoute {
  readonly bucket: 'events' | 'identify';
  readonly scope: Scope;
  accept(accepted: KeyedRequest): Promise<void>;
}

/** The key of a request that may do this; answers 401 or 403 where there is none. */
export function knownKey(
  { authenticate }: Pick<RouteDeps, 'authenticate'>,
  replies: Replies,
  scope: Scope,
  request: IncomingMessage,
  response: ServerResponse,
): ApiKey | undefined {
  const { authorization } = request.headers;
  const key = authenticate(authorization);
  if (key === undefined) {
    const message = authorization === undefined ? 'Missing API key' : 'Invalid API key';
    replies.error(response, 401, message, ['WWW-Authenticate', 'Bearer']);
    return undefined;
  }
  if (key.scopes.includes(scope)) return key;
  replies.error(response, 403, `API key does not have ${scope} scope`);
  return undefined;
}

/** What events and identify share (decisions.md): key known (401), scope (403), rate limit (429), body (400, 413). */
export function keyedRoute(deps: RouteDeps, replies: Replies, route: KeyedRoute): Handle {
  const { registry, rateLimiter, config } = deps;
  const { bucket, scope, accept } = route;

  return async (request, response) => {
    const key = knownKey(deps, replies, scope, request, response);
    if (key === undefined) return;
    const perMinute = registry.site(key.siteId)?.limits[bucket] ?? config.rateLimits[bucket];
    const limit = await rateLimiter.take(bucket, key.keyId, perMinute);
    if (!limit.allowed) return replies.limited(response, limit);
    if (!isJsonContent(request)) return replies.error(response, 400, CONTENT_TYPE_MESSAGE);
    const body = await readBody(request);
    if ('status' in body) return replies.error(response, body.status, body.message);
    return accept({ request, response, key, limit, body });
  };
}
