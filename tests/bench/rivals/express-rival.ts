import { createServer } from 'node:http';
import { acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import express from 'express';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import {
  ACCEPTED,
  announce,
  claimArguments,
  DUPLICATE,
  EVENTS_PATH,
  LIMIT_PER_MINUTE,
  openRivalEngines,
  recordOf,
  WINDOW_SECONDS,
} from './rival-engines.ts';

// Express as in its documentation: express.json(), one middleware for the API key, one for the rate limit, and a handler that awaits one send of
// kafkajs per request.

const { redis, send, keyOf } = await openRivalEngines();
const limiter = new RateLimiterRedis({ storeClient: redis, points: LIMIT_PER_MINUTE, duration: WINDOW_SECONDS });
const app = express();
app.use(express.json({ limit: '64kb' }));
app.use((request, response, next) => {
  const key = keyOf(request.headers);
  if (key === undefined) {
    response.status(401).json({ status: 'error' });
    return;
  }
  response.locals.key = key;
  next();
});
app.use(async (_request, response, next) => {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(response.locals.key as string);
    response.set({
      'RateLimit-Limit': String(LIMIT_PER_MINUTE),
      'RateLimit-Remaining': String(remainingPoints),
      'RateLimit-Reset': String(Math.ceil(msBeforeNext / 1000)),
    });
    next();
  } catch (error) {
    if (error instanceof RateLimiterRes) response.status(429).end();
    else next(error);
  }
});
app.post(EVENTS_PATH, async (request, response) => {
  const event = acceptServerEvent(request.body, () => JSON.stringify(request.body));
  if (event instanceof FieldError) {
    response.status(400).json({ status: 'error', error: { message: event.message } });
    return;
  }
  const { eventId, message } = recordOf(request.body, event, request.headers);
  const { idempotency_key: key = '' } = event;
  if (key !== '' && (await redis.set(...claimArguments(key, eventId))) === null) {
    response.json(DUPLICATE);
    return;
  }
  await send([message]);
  response.status(202).json(ACCEPTED);
});

const server = createServer(app);
server.listen(0, '127.0.0.1', () => announce(server));
