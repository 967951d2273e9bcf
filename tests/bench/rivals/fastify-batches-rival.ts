import { startFastify } from './fastify-app.ts';
import { createBatchedSend, openRivalEngines } from './rival-engines.ts';

// Fastify with auto-pipelining of ioredis, and with one batch to Kafka for the messages of concurrent requests.

const engines = await openRivalEngines({ autoPipelining: true });
await startFastify(engines, createBatchedSend(engines));
