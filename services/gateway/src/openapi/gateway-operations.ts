import {
  constant,
  count,
  ENVELOPE,
  emptyResponse,
  jsonBody,
  jsonResponse,
  object,
  RATE_LIMIT,
  RETRY_AFTER,
  type Schema,
  schemaRef,
  successBody,
  text,
  texts,
} from '@weir/runtime/http/openapi';
import serverEvent from '../../../../schemas/server-event.schema.json' with { type: 'json' };
import { ALLOW_ORIGIN } from '../http/cors.ts';
import type { Operation } from '../http/route.ts';
import { BATCH_EVENTS_MAX } from '../routes/events-batch-route.ts';

export const CORS: Schema = Object.fromEntries(
  Object.entries(ALLOW_ORIGIN).map(([name, value]) => [name, { schema: constant(value) }]),
);

const BODY = {
  description:
    'The body may be compressed, with Content-Encoding gzip, deflate or br. The size limit applies to the decompressed body.',
};
const IDEMPOTENCY_KEY: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'The same as idempotency_key in the body. If both are sent and differ, the answer is 400. An empty header counts as not sent.',
  // The pattern of the field in the body does not allow an empty text, but this header may be empty.
  schema: { type: 'string', pattern: serverEvent.properties.idempotency_key.pattern.replace('{1,', '{0,') },
};

const accepted = object({ accepted: constant(true) });
const duplicate = object({ accepted: constant(false), duplicate: constant(true) });
const failed = object({ error: object({ code: { enum: [400, 413, 503] }, message: text }) });

/** The parts of the OpenAPI document that cannot be derived from the route table in app.ts, for each route of the gateway. */
export const GATEWAY_OPERATIONS = {
  sendEvent: {
    id: 'sendEvent',
    summary: 'One event from a server',
    parameters: [IDEMPOTENCY_KEY],
    requestBody: jsonBody(schemaRef('ServerEvent'), BODY),
    responses: {
      200: jsonResponse('An event with this idempotency key was accepted before.', successBody(duplicate), RATE_LIMIT),
      202: jsonResponse('Accepted.', successBody(accepted), RATE_LIMIT),
    },
  },
  sendEvents: {
    id: 'sendEvents',
    summary: `Up to ${BATCH_EVENTS_MAX} events from a server, each with its own result`,
    description: 'The header Idempotency-Key is not used: each event has its own idempotency_key.',
    requestBody: jsonBody(
      object({ events: { type: 'array', minItems: 1, maxItems: BATCH_EVENTS_MAX, items: schemaRef('ServerEvent') } }),
      BODY,
    ),
    responses: {
      200: jsonResponse(
        'One result for each event, in order. Each event counts against the rate limit.',
        successBody(
          object({
            accepted: count,
            duplicates: count,
            failed: count,
            results: { type: 'array', items: { anyOf: [accepted, duplicate, failed] } },
          }),
        ),
        RATE_LIMIT,
      ),
      400: jsonResponse(
        'Malformed, or more events than the rate limit allows per minute (`RateLimit-Limit`): send smaller batches.',
        ENVELOPE,
        { 'RateLimit-Limit': RATE_LIMIT['RateLimit-Limit'] },
      ),
      429: emptyResponse(
        'The batch has more events than the rate limit still allows. None of its events was stored or counted.',
        {
          ...RETRY_AFTER,
          ...RATE_LIMIT,
        },
      ),
    },
  },
  identify: {
    id: 'identify',
    summary: 'Attach a user identity to a visitor',
    requestBody: jsonBody(schemaRef('Identity'), BODY),
    responses: {
      200: jsonResponse(
        'Identity saved.',
        successBody(
          object(
            { message: constant('User identified'), profileId: { type: 'string', format: 'uuid' }, warning: text },
            ['message', 'profileId'],
          ),
        ),
        RATE_LIMIT,
      ),
    },
  },
  collect: {
    id: 'collect',
    summary: 'A hit of the browser snippet; the body is read as JSON with any Content-Type',
    requestBody: {
      ...BODY,
      required: true,
      content: {
        'application/json': { schema: schemaRef('CollectHit') },
        'text/plain': { schema: schemaRef('CollectHit') },
      },
    },
    responses: {
      204: emptyResponse('Accepted. An exclusion rule may still drop the hit.', CORS),
      404: emptyResponse('No site has this site_id.', CORS),
    },
  },
  collectPreflight: {
    id: 'collectPreflight',
    summary: 'CORS preflight',
    responses: { 204: emptyResponse('The allowed methods and Content-Type, valid for one day.', CORS) },
  },
  healthz: {
    id: 'healthz',
    summary: 'The process is alive',
    responses: { 200: jsonResponse('Alive.', object({ status: constant('ok') })) },
  },
  readyz: {
    id: 'readyz',
    summary: 'The process can accept requests',
    responses: {
      200: jsonResponse('Ready.', object({ status: constant('ready'), notes: texts }, ['status'])),
      503: jsonResponse(
        'Not ready.',
        object({ status: constant('not ready'), missing: texts, notes: texts }, ['status', 'missing']),
      ),
    },
  },
  metrics: {
    id: 'metrics',
    summary: 'Metrics in Prometheus text format',
    responses: { 200: { description: 'The metrics.', content: { 'text/plain': { schema: text } } } },
  },
  openapi: {
    id: 'openapi',
    summary: 'This document',
    responses: { 200: jsonResponse('OpenAPI 3.1.', { type: 'object' }) },
  },
} as const satisfies Readonly<Record<string, Operation>>;
