import { startFastify } from './fastify-app.ts';
import { openRivalEngines } from './rival-engines.ts';

// Fastify with one send of kafkajs for each request.

const engines = await openRivalEngines();
await startFastify(engines, (message) => engines.send([message]));
