import { eventually } from '@weir/testkit/eventually';
import { Kafka, logLevel } from 'kafkajs';
import type { Programs, RunningProgram } from '../build-programs.ts';
import { openBenchLog } from '../distributed/distributed-log.ts';
import { startRole } from '../distributed/distributed-roles.ts';
import type { BenchServices } from '../distributed/distributed-services.ts';
import { sendLoad } from '../load/http-load.ts';
import { EVENTS_WITH_KEY } from '../load/load-requests.ts';

/** A measured server that accepts server events: the gateway, or a rival (rival-engines.ts). */
export interface RivalServer extends Pick<RunningProgram, 'cpuMicros' | 'stop'> {
  readonly name: string;
  readonly port: number;
  readonly key: string;
  stored(): Promise<number>;
}

const RIVALS = [
  { name: 'Express', program: 'express-rival' },
  { name: 'Fastify, one send per request', program: 'fastify-rival' },
  { name: 'Fastify, batches', program: 'fastify-batches-rival' },
  { name: 'expert pipeline', program: 'expert-rival' },
] as const;

const PARTITIONS = 12;

/** Starts the gateway and each rival, each with its own topic. The gateway is the first one. */
export async function startAll(programs: Programs, services: BenchServices): Promise<readonly RivalServer[]> {
  const { KAFKA_BROKERS: brokers = '' } = services.env;
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.ERROR }).admin();
  await admin.connect();
  const stored = (topic: string) => async (): Promise<number> =>
    (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0);

  const prefix = 'rivals-';
  const log = await openBenchLog(brokers, prefix);
  const gateway = await startRole(programs, 'gateway', { ...services.env, KAFKA_TOPIC_PREFIX: prefix });
  const weir: RivalServer = {
    name: 'Weir',
    port: gateway.port,
    key: log.key,
    cpuMicros: gateway.cpuMicros,
    stored: stored(`${prefix}events.raw`),
    async stop() {
      await gateway.stop();
      await log.close();
      await admin.disconnect();
    },
  };
  const others: RivalServer[] = [];
  for (const { name, program } of RIVALS) {
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic: program, numPartitions: PARTITIONS }] });
    await eventually(`the topic ${program}`, async () => (await stored(program)()) === 0);
    const env = { ...services.env, RIVAL_TOPIC: program, RIVAL_API_KEY: log.key };
    const { printed, cpuMicros, stop } = programs.start(program, [], env);
    const [, port] = await printed(/listening (\d+)/);
    others.push({ name, port: Number(port), key: log.key, cpuMicros, stop, stored: stored(program) });
  }
  return [weir, ...others];
}

/**
 * Sends events with new idempotency keys. Resolves with the seconds that this took. Throws unless the server answers 202 to each event and stores
 * each event once.
 */
export async function sendAndCount(server: RivalServer, requests: number, connections: number): Promise<number> {
  const { status, make } = EVENTS_WITH_KEY;
  const before = await server.stored();
  const { seconds } = await sendLoad({ port: server.port, connections, requests, status, make: make(server.key) });
  const stored = (await server.stored()) - before;
  if (stored !== requests) throw new Error(`${server.name} acknowledged ${requests} events and stored ${stored}`);
  return seconds;
}

/** Sends two requests with the same idempotency key. Throws unless the second one gets 200 and stores nothing. */
export async function checkDuplicate(server: RivalServer): Promise<void> {
  const one = EVENTS_WITH_KEY.make(server.key)(0);
  const before = await server.stored();
  for (const status of [202, 200]) {
    await sendLoad({ port: server.port, connections: 1, requests: 1, status, make: () => one });
  }
  const stored = (await server.stored()) - before;
  if (stored !== 1) throw new Error(`${server.name} stored ${stored} records of one idempotency key`);
}
