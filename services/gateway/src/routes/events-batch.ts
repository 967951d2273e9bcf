import type { IncomingMessage } from 'node:http';
import { FieldError } from '@weir/domain/field-error';
import type { Json, JsonObject } from '@weir/domain/json';
import { createAppendEvent } from '../append-event.ts';
import type { RouteDeps } from '../gateway-deps.ts';
import { knownKey } from '../keyed-route.ts';
import { BODY_BYTES_MAX, readBody } from '../read-body.ts';
import type { Replies } from '../reply.ts';
import { CONTENT_TYPE_MESSAGE, type Handle, isJsonContent } from '../route.ts';

export const BATCH_EVENTS_MAX = 500;
export const BATCH_BYTES_MAX = 1024 * 1024;

type Result =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly duplicate: true }
  | { readonly error: { readonly code: 400 | 413 | 429 | 503; readonly message: string } };

const ACCEPTED: Result = { accepted: true };
const DUPLICATE: Result = { accepted: false, duplicate: true };
const LIMITED = failed(429, 'Rate limit exceeded');
const UNAVAILABLE = failed(503, 'the event log cannot take the record now; send it again');
const NOT_OBJECT = failed(400, 'the event must be a JSON object');
const TOO_LARGE = failed(413, `the event must be at most ${BODY_BYTES_MAX / 1024} KiB`);
const NESTED = failed(400, 'the event is nested too deeply');
const EVENTS_RULE = `events must be an array of 1 to ${BATCH_EVENTS_MAX} events`;

/**
 * POST /api/v1/events/batch: an extension of ours, for callers in bulk. Every event is on its own, as if it had been sent to
 * /api/v1/events: a result for each, in order. Each counts against the rate limit; a body that can't be read counts as one.
 */
export function eventsBatchRoute(deps: RouteDeps, replies: Replies): Handle {
  const { registry, rateLimiter, config } = deps;
  const appendEvent = createAppendEvent(deps);

  const appendOne = async (request: IncomingMessage, siteId: string, json: Json): Promise<Result> => {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return NOT_OBJECT;
    const text = textOf(json);
    if (text === undefined) return NESTED;
    if (Buffer.byteLength(text) > BODY_BYTES_MAX) return TOO_LARGE;
    const appended = appendEvent({ request, siteId, json: json as JsonObject, text });
    if (appended instanceof FieldError) return failed(400, appended.message);
    const result = await appended;
    return result === 'stored' ? ACCEPTED : result === 'duplicate' ? DUPLICATE : UNAVAILABLE;
  };

  return async (request, response) => {
    const key = knownKey(deps, replies, 'events:write', request, response);
    if (key === undefined) return;
    const { siteId, keyId } = key;
    const perMinute = registry.site(siteId)?.limits.events ?? config.rateLimits.events;
    const take = () => rateLimiter.take('events', keyId, perMinute);

    const refuse = async (status: number, message: string) => {
      const limit = await take();
      if (limit.allowed) replies.error(response, status, message);
      else replies.limited(response, limit);
    };
    if (!isJsonContent(request)) return refuse(400, CONTENT_TYPE_MESSAGE);
    const body = await readBody(request, BATCH_BYTES_MAX);
    if ('status' in body) return refuse(body.status, body.message);
    const { events } = body.json;
    if (!Array.isArray(events) || events.length === 0 || events.length > BATCH_EVENTS_MAX) {
      return refuse(400, EVENTS_RULE);
    }

    const limits = await Promise.all(events.map(take));
    const results = await Promise.all(
      events.map((event, index) => (limits[index]?.allowed ? appendOne(request, siteId, event) : LIMITED)),
    );
    const count = (wanted: (result: Result) => boolean): number => results.filter(wanted).length;
    const data = {
      accepted: count((result) => result === ACCEPTED),
      duplicates: count((result) => result === DUPLICATE),
      failed: count((result) => 'error' in result),
      results,
    };
    const limit = limits.find(({ allowed }) => !allowed) ?? limits.at(-1);
    replies.json(response, 200, JSON.stringify({ status: 'success', data }), limit);
  };
}

/** Undefined where V8's stack ends before the nesting does: JSON.parse has no such limit. */
function textOf(json: Json): string | undefined {
  try {
    return JSON.stringify(json);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function failed(code: 400 | 413 | 429 | 503, message: string): Result {
  return { error: { code, message } };
}
