import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkCollectHit } from '@weir/domain/collect-hit';
import { FieldError } from '@weir/domain/field-error';
import { visitorNetwork } from '@weir/domain/ip-address';
import type { JsonObject } from '@weir/domain/json';
import { cookielessPartitionKey, partitionKey } from '@weir/domain/partition-key';
import { encodeRawRecord } from '@weir/domain/raw-record';
import type { Registry } from '@weir/ports/registry';
import type { RouteDeps } from '../gateway-deps.ts';
import { type Body, readBody } from '../read-body.ts';
import { recordHead } from '../record-head.ts';
import type { Replies } from '../reply.ts';
import type { Handle } from '../route.ts';

/** POST /api/collect (api.md 4.3): rate limit (429), body (400), site (404). Exclusion rules are the enricher's, so that no answer depends on them. */
export function collectRoute(deps: RouteDeps, replies: Replies): Handle {
  const { batcher, clock, newEventId, clientAddress, hitNetworks, registry, rateLimiter, config } = deps;
  const limitsVary = createLimitsVary(registry);

  const accept = async (request: IncomingMessage, response: ServerResponse, { ip, network }: Client, body: Body) => {
    if ('status' in body) return replies.error(response, body.status, body.message);
    const hit = checkCollectHit(body.json, () => body.text);
    if (hit instanceof FieldError) return replies.error(response, 400, hit.message);
    const { site_id: siteId, visitor_id: visitorId } = hit;
    if (registry.site(siteId) === undefined) return replies.empty(response, 404);
    hitNetworks.count(siteId, ip, network);
    const eventId = newEventId();
    const head = recordHead(request, { eventId, kind: 'collect', siteId, receivedAt: clock(), ip });
    const userId = hit.identity?.userId ?? '';
    const key =
      visitorId === '' && userId === ''
        ? cookielessPartitionKey(siteId, ip, head.userAgent)
        : partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, userId !== '');
    const result = await batcher.append({ key, value: encodeRawRecord(head, body.text) }, undefined);
    if (result === 'stored') replies.empty(response, 204);
    else replies.unavailable(response);
  };

  /** Counts the request against the address, at the site's limit where it has one of its own. */
  const take = (network: string, siteId: string | undefined) => {
    const own = siteId === undefined ? undefined : registry.site(siteId)?.limits.collect;
    return own === undefined
      ? rateLimiter.take('collect', network, config.rateLimits.collect)
      : rateLimiter.take('collect', `${siteId}/${network}`, own);
  };

  return async (request, response) => {
    const ip = clientAddress(request);
    const network = visitorNetwork(ip);
    // Where sites have limits of their own, only the body tells whose counts. Its faults still answer after the limit.
    const read = limitsVary() ? await readBody(request) : undefined;
    const limit = await take(network, read !== undefined && 'json' in read ? siteIdOf(read.json) : undefined);
    if (!limit.allowed) return replies.limited(response, limit);
    return accept(request, response, { ip, network }, read ?? (await readBody(request)));
  };
}

interface Client {
  readonly ip: string;
  /** What counts as one visitor's address. */
  readonly network: string;
}

function siteIdOf(body: JsonObject): string | undefined {
  return typeof body.site_id === 'string' ? body.site_id : undefined;
}

/** Whether any site has a collect limit of its own. */
function createLimitsVary(registry: Registry): () => boolean {
  const look = () => registry.sites().some((site) => site.limits.collect !== undefined);
  let vary = look();
  registry.onChange(() => {
    vary = look();
  });
  return () => vary;
}
