import { startFastify } from './fastify-app.ts';
import { createBatchedSend, openRivalEngines } from './rival-engines.ts';

// Fastify with auto-pipelining of ioredis. It sends the messages of concurrent requests to Kafka in one batch.

const engines = await openRivalEngines({ autoPipelining: true });
await startFastify(engines, createBatchedSend(engines));
