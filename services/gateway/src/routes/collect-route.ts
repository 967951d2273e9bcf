import type { IncomingMessage, ServerResponse } from 'node:http';
import { acceptCollectHit } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import type { JsonObject } from '@weir/domain/json/json';
import { visitorNetwork } from '@weir/domain/net/ip-address';
import { proveIdentity } from '@weir/domain/people/identity-signature';
import { withoutClientAddress } from '@weir/domain/records/client-address-text';
import { cookielessPartitionKey, partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import type { Registry } from '@weir/ports/registry';
import { siteRateLimit } from '../admission/site-rate-limit.ts';
import { createWaitingRoom } from '../admission/waiting-room.ts';
import { buildEnvelope } from '../append/envelope.ts';
import type { RouteDeps } from '../gateway-deps.ts';
import { PREFLIGHT, rawHeaders } from '../http/cors.ts';
import type { Replies } from '../http/gateway-reply.ts';
import { readArrivingBody } from '../http/read-arriving-body.ts';
import { type Body, forgetJson } from '../http/read-request-body.ts';
import type { CollectRoute, Handle } from '../http/route.ts';

/**
 * The hits that are being received before their rate limit is known, on all connections together. Each client IP (IPv6: each /64) has only a share.
 * Without this limit, one client IP could make a gateway keep a body of 64 KiB for each of 20,000 connections.
 */
const ARRIVING_MAX = { records: 20_000, bytes: 64 * 1024 * 1024 };

/**
 * Handles POST /api/collect (docs/api.md). Checks the rate limit (429), then the body (400, 413, 415 or 503), then the site (404). The
 * enricher applies the exclusion rules later, so no answer depends on them.
 */
export function collectRoute(deps: RouteDeps, replies: Replies, route: CollectRoute): Handle {
  const {
    batcher,
    clock,
    newEventId,
    clientIpOf,
    addressSealer,
    proxyDetector,
    registry,
    rateLimiter,
    readBody,
    traitsDropped,
  } = deps;
  const { rateLimit, bodyBytesMax } = route;
  const limitsVary = createLimitsVary(registry);
  const arriving = createWaitingRoom(ARRIVING_MAX);

  /** Reads the body before the rate limit is checked. Returns undefined if too many bodies of this network are being received. */
  const readFirst = (request: IncomingMessage, response: ServerResponse, network: string) =>
    readArrivingBody(arriving.sender(network, ''), { request, response, bytesMax: bodyBytesMax }, () =>
      readBody(request, bodyBytesMax),
    );

  const accept = async (
    request: IncomingMessage,
    response: ServerResponse,
    { ip, network }: Client,
    read: Body | Promise<Body>,
  ) => {
    const body = read instanceof Promise ? await read : read;
    if ('status' in body) return replies.error(response, body.status, body.message, body.headers);
    const hit = acceptCollectHit(body.json, () => body.text);
    if (hit instanceof FieldError) return replies.error(response, 400, hit.message);
    const { site_id: siteId, visitor_id: visitorId } = hit;
    const site = registry.site(siteId);
    if (site === undefined) return replies.empty(response, 404);
    proxyDetector.count(siteId, ip, network);
    const storedText = withoutClientAddress(body.text, body.json);
    forgetJson(body);
    const eventId = newEventId();
    const receivedAt = clock();
    const sealed = addressSealer.seal(ip, receivedAt);
    const sealedIp = typeof sealed === 'string' ? sealed : await sealed;
    if (sealedIp === undefined) return replies.unavailable(response);
    const { userId = '', signature = '' } = hit.identity ?? {};
    const identityProof =
      hit.identity === undefined ? undefined : proveIdentity(site.identityVerification, userId, signature);
    const head = buildEnvelope(request, { eventId, kind: 'collect', siteId, receivedAt, sealedIp });
    const key =
      visitorId === '' && userId === ''
        ? cookielessPartitionKey(siteId, ip, head.userAgent)
        : partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, userId !== '');
    const proven = identityProof === undefined ? head : { ...head, identityProof };
    const value = encodeRawRecord(proven, storedText);
    const result = await batcher.append({ key, value }, undefined, { siteId, keyId: '' });
    if (result !== 'stored') return replies.unavailable(response);
    if (hit.identity !== undefined) {
      traitsDropped('over_limit', hit.identity.droppedTraits);
      traitsDropped('invalid_key', hit.identity.invalidTraits);
    }
    replies.empty(response, 204);
  };

  /** Counts the request against the rate limit of its network. A site with its own limit has a separate count. */
  const take = (network: string, siteId: string | undefined) => {
    const { perMinute, isOwn } = siteRateLimit(deps, rateLimit, siteId);
    return rateLimiter.take(rateLimit, isOwn ? `${siteId}/${network}` : network, perMinute);
  };

  return async (request, response) => {
    const ip = clientIpOf(request);
    const network = visitorNetwork(ip);
    // If any site has its own limit, the body must be read before the limit is known, because the body names the site. A request over the
    // limit with an invalid body still gets 429, and not 400.
    let read: Body | undefined;
    if (limitsVary()) {
      read = await readFirst(request, response, network);
      if (read === undefined) return replies.unavailable(response);
    }
    const limit = await take(network, read !== undefined && 'json' in read ? siteIdOf(read.json) : undefined);
    if (!limit.allowed) return replies.limited(response, limit);
    await accept(request, response, { ip, network }, read ?? readBody(request, bodyBytesMax));
  };
}

export function collectPreflight(_deps: unknown, replies: Replies): Handle {
  const headers = rawHeaders(PREFLIGHT);
  return (_request, response) => replies.empty(response, 204, headers);
}

interface Client {
  readonly ip: string;
  /** The IPv4 address itself, or the /64 of an IPv6 address (see `visitorNetwork`). */
  readonly network: string;
}

function siteIdOf(body: JsonObject): string | undefined {
  return typeof body.site_id === 'string' ? body.site_id : undefined;
}

/** Returns a function that says whether any site has its own collect limit. */
function createLimitsVary(registry: Registry): () => boolean {
  const look = () => registry.sites().some((site) => site.limits.collect !== undefined);
  let vary = look();
  registry.onChange(() => {
    vary = look();
  });
  return () => vary;
}
