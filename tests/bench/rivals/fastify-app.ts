import { acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import type { JsonObject } from '@weir/domain/json/json';
import { type FastifyInstance, fastify } from 'fastify';
import type { Message } from 'kafkajs';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import {
  ACCEPTED,
  announce,
  claimArguments,
  DUPLICATE,
  EVENTS_PATH,
  LIMIT_PER_MINUTE,
  type RivalEngines,
  recordOf,
  WINDOW_SECONDS,
} from './rival-engines.ts';

const ANSWER = {
  type: 'object',
  properties: {
    status: { type: 'string' },
    data: { type: 'object', properties: { accepted: { type: 'boolean' }, duplicate: { type: 'boolean' } } },
  },
} as const;

/** Starts a Fastify server with a response schema, as its documentation recommends. `sendOne` resolves when the message is acknowledged. */
export async function startFastify(
  { redis, keyOf }: RivalEngines,
  sendOne: (message: Message) => Promise<void>,
): Promise<FastifyInstance> {
  const limiter = new RateLimiterRedis({ storeClient: redis, points: LIMIT_PER_MINUTE, duration: WINDOW_SECONDS });
  const app = fastify({ bodyLimit: 64 * 1024 });
  const schema = { response: { 200: ANSWER, 202: ANSWER } };
  app.post<{ Body: JsonObject }>(EVENTS_PATH, { schema }, async (request, reply) => {
    const apiKey = keyOf(request.headers);
    if (apiKey === undefined) return reply.code(401).send();
    try {
      const { remainingPoints, msBeforeNext } = await limiter.consume(apiKey);
      reply.headers({
        'RateLimit-Limit': LIMIT_PER_MINUTE,
        'RateLimit-Remaining': remainingPoints,
        'RateLimit-Reset': Math.ceil(msBeforeNext / 1000),
      });
    } catch (error) {
      if (error instanceof RateLimiterRes) return reply.code(429).send();
      throw error;
    }
    const event = acceptServerEvent(request.body, () => JSON.stringify(request.body));
    if (event instanceof FieldError) return reply.code(400).send();
    const { eventId, message } = recordOf(request.body, event, request.headers);
    const { idempotency_key: key = '' } = event;
    if (key !== '' && (await redis.set(...claimArguments(key, eventId))) === null) return reply.send(DUPLICATE);
    await sendOne(message);
    return reply.code(202).send(ACCEPTED);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  announce(app.server);
  return app;
}
