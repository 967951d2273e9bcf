import { startFastify } from './fastify-app.ts';
import { createBatchedSend, openRivalEngines } from './rival-engines.ts';

// Fastify with the pipelining of ioredis and with batches: the messages of concurrent requests are sent together.

const engines = await openRivalEngines({ autoPipelining: true });
await startFastify(engines, createBatchedSend(engines));
