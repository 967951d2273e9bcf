import type { IncomingMessage, ServerResponse } from 'node:http';
import { FieldError } from '@weir/domain/ingest/field-error';
import { itemTexts } from '@weir/domain/json/item-texts';
import { isJsonObject, type Json } from '@weir/domain/json/json';
import type { ApiKey } from '@weir/domain/registry/site';
import { createBatchTurns } from '../admission/batch-turns.ts';
import { siteRateLimit } from '../admission/site-rate-limit.ts';
import { createWaitingRoom } from '../admission/waiting-room.ts';
import type { AppendResult } from '../append/append-batcher.ts';
import { createAppendEvent } from '../append/append-event.ts';
import type { RouteDeps } from '../gateway-deps.ts';
import { authorizedKey } from '../http/authenticated-route.ts';
import { type Replies, UNAVAILABLE } from '../http/gateway-reply.ts';
import { readArrivingBody } from '../http/read-arriving-body.ts';
import {
  BODY_BYTES_MAX,
  NOT_OBJECT as BODY_NOT_OBJECT,
  type Body,
  forgetJson,
  type ParsedBody,
  type Refusal,
} from '../http/read-request-body.ts';
import { type AuthenticatedRoute, CONTENT_TYPE_MESSAGE, type Handle, isJsonContent } from '../http/route.ts';

export const BATCH_EVENTS_MAX = 500;
export const BATCH_BYTES_MAX = 1024 * 1024;
/**
 * The batches that are being received or wait to be parsed, on all connections together. Without this limit, one API key could make a gateway keep
 * a body of 1 MiB for each of 20,000 connections, because the rate limit is checked only when the number of events is known.
 */
const ARRIVING_MAX = { records: 20_000, bytes: 128 * 1024 * 1024 };

type Result =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly duplicate: true }
  | { readonly error: { readonly code: 400 | 413 | 503; readonly message: string } };

const ACCEPTED: Result = { accepted: true };
const DUPLICATE: Result = { accepted: false, duplicate: true };
const NOT_STORED = failed(503, UNAVAILABLE);
const NOT_OBJECT = failed(400, 'the event must be a JSON object');
const TOO_LARGE = failed(413, `the event must be at most ${BODY_BYTES_MAX / 1024} KiB`);
const TOO_MANY: Refusal = {
  status: 503,
  message: 'too many batches of this API key or site are being received; send it again',
  headers: ['Retry-After', '1'],
};
const EVENTS_RULE = `events must be an array of 1 to ${BATCH_EVENTS_MAX} events`;

/**
 * Handles POST /api/v1/events/batch (docs/api.md). Each event is processed as if it had been sent to /api/v1/events, and has its own
 * result. Each event counts against the rate limit. A body that has no valid list of events counts as one event. A batch with more events
 * than the remaining limit (429), or than the whole limit (400), is refused as a whole and does not count. If all events failed, at
 * least one of them because the event log was unavailable, the answer is 503: a client that reads only the status must not see a success.
 */
export function eventsBatchRoute(deps: RouteDeps, replies: Replies, route: AuthenticatedRoute): Handle {
  const { rateLimiter, readBody } = deps;
  const { rateLimit, bodyBytesMax } = route;
  const appendEvent = createAppendEvent(deps);
  /** Parsing a batch can need as much CPU as processing its events, and much memory. So both steps wait for a turn. */
  const parseTurns = createBatchTurns();
  const turns = createBatchTurns();
  const arriving = createWaitingRoom(ARRIVING_MAX);

  /** Reads the body. While it arrives and waits for its turn, it counts as arriving, so each site and each key has only a share of `ARRIVING_MAX`. */
  const readBatch = (
    request: IncomingMessage,
    response: ServerResponse,
    { siteId, keyId }: ApiKey,
  ): Body | Promise<Body> => {
    const sender = arriving.sender(siteId, keyId);
    const read = () => readBody(request, bodyBytesMax, () => parseTurns.next(keyId));
    return readArrivingBody(sender, { request, response, bytesMax: bodyBytesMax }, read) ?? TOO_MANY;
  };

  const appendOne = (request: IncomingMessage, key: ApiKey, json: Json, text: string): Result | Promise<Result> => {
    if (!isJsonObject(json)) return NOT_OBJECT;
    if (Buffer.byteLength(text) > BODY_BYTES_MAX) return TOO_LARGE;
    const appended = appendEvent({ request, key, json, text, headerKey: '' });
    return appended instanceof FieldError ? failed(400, appended.message) : appended.then(resultOf);
  };
  const appendAll = (request: IncomingMessage, key: ApiKey, { json, text }: ParsedBody) => {
    const texts = itemTexts(text, 'events');
    return (json.events as readonly Json[]).map((event, index) =>
      appendOne(request, key, event, texts[index] as string),
    );
  };

  return async (request, response) => {
    const key = authorizedKey(deps, replies, route, request, response);
    if (key === undefined) return;
    const { siteId, keyId } = key;
    const { perMinute } = siteRateLimit(deps, rateLimit, siteId);

    const refuse = async (status: number, message: string, headers?: readonly string[]) => {
      const limit = await rateLimiter.take(rateLimit, keyId, perMinute);
      if (limit.allowed) replies.error(response, status, message, headers);
      else replies.limited(response, limit);
    };
    if (!isJsonContent(request)) return refuse(400, CONTENT_TYPE_MESSAGE);
    const body = await readBatch(request, response, key);
    if (body === TOO_MANY) return replies.error(response, body.status, body.message, body.headers);
    if (body === BODY_NOT_OBJECT) return refuse(400, `the body must be a JSON object with the events: ${EVENTS_RULE}`);
    if ('status' in body) return refuse(body.status, body.message, body.headers);
    const sent = eventsIn(body);
    if (sent === 0 || sent > BATCH_EVENTS_MAX) return refuse(400, EVENTS_RULE);

    if (sent > perMinute) {
      const headers = ['RateLimit-Limit', String(perMinute)];
      return replies.error(response, 400, tooManyMessage(sent, perMinute), headers);
    }

    const limit = await rateLimiter.take(rateLimit, keyId, perMinute, sent);
    if (!limit.allowed) return replies.limited(response, limit);
    await turns.next(keyId);
    const appended = appendAll(request, key, body);
    forgetJson(body);
    const results = await Promise.all(appended);
    if (results.includes(NOT_STORED) && !results.some((result) => 'accepted' in result)) {
      return replies.unavailable(response);
    }
    const count = (wanted: (result: Result) => boolean): number => results.filter(wanted).length;
    const data = {
      accepted: count((result) => result === ACCEPTED),
      duplicates: count((result) => result === DUPLICATE),
      failed: count((result) => 'error' in result),
      results,
    };
    replies.json(response, 200, JSON.stringify({ status: 'success', data }), limit);
  };
}

/** The number of events in the body; 0 if it has no list of events. */
function eventsIn({ json: { events } }: ParsedBody): number {
  return Array.isArray(events) ? events.length : 0;
}

function resultOf(appended: AppendResult): Result {
  return appended === 'stored' ? ACCEPTED : appended === 'duplicate' ? DUPLICATE : NOT_STORED;
}

function tooManyMessage(count: number, perMinute: number): string {
  return `events has ${count} events, more than the rate limit of ${perMinute} a minute: send at most ${perMinute} at once`;
}

function failed(code: 400 | 413 | 503, message: string): Result {
  return { error: { code, message } };
}
