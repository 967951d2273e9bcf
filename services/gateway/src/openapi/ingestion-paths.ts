import type { Schema } from './request-schemas.ts';
import {
  ALLOW,
  body,
  CORS,
  constant,
  ENVELOPE,
  IDENTIFY_ERROR,
  json,
  noBody,
  object,
  RATE_LIMIT,
  RETRY_AFTER,
  reference,
  success,
  text,
} from './responses.ts';

function keyedErrors(error: Schema, bodyMax = '64 KiB'): Schema {
  return {
    400: json('Malformed, or a field broke a rule; the message names both.', error),
    401: json('Missing or invalid API key.', error),
    403: json('The key lacks the scope, or belongs to another site.', error),
    405: json('Another method.', error, ALLOW),
    413: json(`The body is over ${bodyMax}.`, error),
    429: noBody('Rate limit exceeded.', RETRY_AFTER),
    503: json('The event log cannot take the record now: send it again.', error, RETRY_AFTER),
  };
}

const events: Schema = {
  post: {
    operationId: 'sendEvent',
    tags: ['ingestion'],
    summary: 'A custom event from a server',
    security: [{ apiKey: [] }],
    requestBody: body(reference('ServerEvent')),
    responses: {
      200: json(
        'Idempotency key already seen; ignored.',
        success(object({ accepted: constant(false), duplicate: constant(true) })),
        RATE_LIMIT,
      ),
      202: json('Event queued.', success(object({ accepted: constant(true) })), RATE_LIMIT),
      ...keyedErrors(ENVELOPE),
    },
  },
};

const accepted = object({ accepted: constant(true) });
const duplicate = object({ accepted: constant(false), duplicate: constant(true) });
const failed = object({ error: object({ code: { enum: [400, 413, 429, 503] }, message: text }) });
const count: Schema = { type: 'integer', minimum: 0 };

const eventsBatch: Schema = {
  post: {
    operationId: 'sendEvents',
    tags: ['ingestion'],
    summary: 'Up to 500 custom events from a server, each on its own; at most 1 MiB',
    security: [{ apiKey: [] }],
    requestBody: body(
      object({ events: { type: 'array', minItems: 1, maxItems: 500, items: reference('ServerEvent') } }),
    ),
    responses: {
      200: json(
        'One result for each event, in order. Each counts against the rate limit; one that no longer fits fails with 429, and `Retry-After` says when it will.',
        success(
          object({
            accepted: count,
            duplicates: count,
            failed: count,
            results: { type: 'array', items: { anyOf: [accepted, duplicate, failed] } },
          }),
        ),
        { ...RATE_LIMIT, ...RETRY_AFTER },
      ),
      ...keyedErrors(ENVELOPE, '1 MiB'),
    },
  },
};

const identify: Schema = {
  post: {
    operationId: 'identify',
    tags: ['ingestion'],
    summary: 'Attach an identity to a visitor',
    security: [{ apiKey: [] }],
    requestBody: body(reference('Identity')),
    responses: {
      200: json(
        'Identity saved.',
        success(
          object(
            { message: constant('User identified'), profileId: { type: 'string', format: 'uuid' }, warning: text },
            ['message', 'profileId'],
          ),
        ),
        RATE_LIMIT,
      ),
      ...keyedErrors(IDENTIFY_ERROR),
    },
  },
};

const collect: Schema = {
  post: {
    operationId: 'collect',
    tags: ['ingestion'],
    summary: 'A hit of the browser snippet; any Content-Type is read as JSON',
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: reference('CollectHit') },
        'text/plain': { schema: reference('CollectHit') },
      },
    },
    responses: {
      204: noBody('Accepted, or dropped by an exclusion rule.', CORS),
      400: noBody('Missing or invalid fields.', CORS),
      404: noBody('No site matches site_id.', CORS),
      405: noBody('Another method.', { ...CORS, ...ALLOW }),
      413: noBody('The body is over 64 KiB.', CORS),
      429: noBody('Rate limit exceeded.', { ...CORS, ...RETRY_AFTER }),
      503: noBody('The event log cannot take the record now: send it again.', { ...CORS, ...RETRY_AFTER }),
    },
  },
  options: {
    operationId: 'collectPreflight',
    tags: ['ingestion'],
    summary: 'CORS preflight',
    security: [],
    responses: { 204: noBody('The methods, Content-Type and a max-age of a day.', CORS) },
  },
};

export const INGESTION_PATHS: Readonly<Record<string, Schema>> = {
  '/api/v1/events': events,
  '/api/v1/events/batch': eventsBatch,
  '/api/identify': identify,
  '/api/collect': collect,
};
