import type { IncomingMessage, ServerResponse } from 'node:http';
import { bearerToken } from '@weir/domain/registry/api-key';
import type { ApiKey } from '@weir/domain/registry/site';
import type { RateLimit } from '@weir/ports/rate-limiter';
import { siteRateLimit } from '../admission/site-rate-limit.ts';
import type { RouteDeps } from '../gateway-deps.ts';
import type { Replies } from './gateway-reply.ts';
import type { Body } from './read-request-body.ts';
import { type AuthenticatedRoute, CONTENT_TYPE_MESSAGE, type Handle, isJsonContent } from './route.ts';

export interface AuthenticatedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly key: ApiKey;
  readonly limit: RateLimit;
  readonly body: Exclude<Body, { status: number }>;
}

/** The API key of a request, if it has the scope of the route. Otherwise answers 401 or 403 and returns undefined. */
export function authorizedKey(
  { authenticate, tokenUses }: Pick<RouteDeps, 'authenticate' | 'tokenUses'>,
  replies: Replies,
  { scope }: AuthenticatedRoute,
  request: IncomingMessage,
  response: ServerResponse,
): ApiKey | undefined {
  const { authorization } = request.headers;
  const key = authenticate(authorization);
  if (key === undefined) {
    replies.error(response, 401, refusalOf(authorization), ['WWW-Authenticate', 'Bearer']);
    return undefined;
  }
  tokenUses.note(key.siteId, key.keyId);
  if (key.scopes.includes(scope)) return key;
  replies.error(response, 403, `API key does not have ${scope} scope`);
  return undefined;
}

function refusalOf(authorization: string | undefined): string {
  if (authorization === undefined) return 'Missing API key';
  return bearerToken(authorization) === undefined
    ? 'Invalid API key: the header Authorization must be "Bearer", a space and the key'
    : 'Invalid API key';
}

/** Checks the API key (401), its scope (403), the rate limit (429) and the body (400, 413, 415 or 503), in this order. */
export function authenticatedRoute(
  deps: RouteDeps,
  replies: Replies,
  route: AuthenticatedRoute,
  accept: (accepted: AuthenticatedRequest) => Promise<void>,
): Handle {
  const { rateLimiter, readBody } = deps;
  const { rateLimit, bodyBytesMax } = route;

  return async (request, response) => {
    const key = authorizedKey(deps, replies, route, request, response);
    if (key === undefined) return;
    const { perMinute } = siteRateLimit(deps, rateLimit, key.siteId);
    const limit = await rateLimiter.take(rateLimit, key.keyId, perMinute);
    if (!limit.allowed) return replies.limited(response, limit);
    if (!isJsonContent(request)) return replies.error(response, 400, CONTENT_TYPE_MESSAGE);
    const read = readBody(request, bodyBytesMax);
    const body = read instanceof Promise ? await read : read;
    if ('status' in body) return replies.error(response, body.status, body.message, body.headers);
    // Awaiting the promise costs less than returning it from an async function.
    await accept({ request, response, key, limit, body });
  };
}
