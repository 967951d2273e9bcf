import { createHash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerEventFields } from '@weir/domain/ingest/server-event';
import type { JsonObject } from '@weir/domain/json/json';
import { Redis } from 'ioredis';
import { Kafka, logLevel, type Message, Partitioners, type Producer } from 'kafkajs';

// The code that all rivals share. A rival is what a user could write instead of Weir's gateway: a small server with the usual libraries, on the
// same Kafka and Redis. Each one checks an API key, counts a rate limit, validates the event with the functions of Weir, claims the idempotency
// key, appends a record to a topic, and answers after Kafka has acknowledged the record.

export const EVENTS_PATH = '/api/v1/events';
export const ACCEPTED = { status: 'success', data: { accepted: true } } as const;
export const DUPLICATE = { status: 'success', data: { accepted: false, duplicate: true } } as const;
export const LIMIT_PER_MINUTE = 1_000_000_000;
export const WINDOW_SECONDS = 60;
/** How long a rival with batches collects requests. The gateway has the same default. */
export const LINGER_MS = 5;
const KEY_SECONDS = 86_400;
const ACKS_ALL = -1;

export interface RivalEngines {
  readonly redis: Redis;
  /** Sends the messages. Resolves when Kafka has acknowledged all of them. */
  send(messages: readonly Message[]): Promise<void>;
  /** Returns the ID of the API key in the header `Authorization`; undefined if the key is not valid. */
  keyOf(headers: IncomingHttpHeaders): string | undefined;
}

/** Connects to Kafka and Redis. Environment variables contain their addresses and the name of the topic. */
export async function openRivalEngines({ autoPipelining = false } = {}): Promise<RivalEngines> {
  const { KAFKA_BROKERS = '', REDIS_URL = '', RIVAL_TOPIC = '', RIVAL_API_KEY = '' } = process.env;
  const kafka = new Kafka({
    brokers: KAFKA_BROKERS.split(','),
    clientId: 'rival',
    retry: { retries: 0 },
    logLevel: logLevel.ERROR,
  });
  const producer: Producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const keys = new Map([[sha256(RIVAL_API_KEY), 'key_1']]);
  return {
    redis: new Redis(REDIS_URL, { keyPrefix: `${RIVAL_TOPIC}:`, enableAutoPipelining: autoPipelining }),
    async send(messages) {
      await producer.send({ topic: RIVAL_TOPIC, acks: ACKS_ALL, messages: [...messages] });
    },
    keyOf: ({ authorization = '' }) =>
      authorization.startsWith('Bearer ') ? keys.get(sha256(authorization.slice('Bearer '.length))) : undefined,
  };
}

/** The arguments of the Redis command `SET` that claims an idempotency key. Redis answers null if the key was claimed before. */
export function claimArguments(
  idempotencyKey: string,
  eventId: string,
): [key: string, value: string, 'EX', seconds: number, 'NX'] {
  return [`claim:${idempotencyKey}`, eventId, 'EX', KEY_SECONDS, 'NX'];
}

export interface RivalRecord {
  readonly eventId: string;
  readonly message: Message;
}

export function recordOf(body: JsonObject, event: ServerEventFields, headers: IncomingHttpHeaders): RivalRecord {
  const eventId = randomUUID();
  const envelope = { eventId, siteId: 'demo', receivedAt: Date.now(), userAgent: headers['user-agent'] ?? '', body };
  return { eventId, message: { key: event.visitor_id ?? eventId, value: JSON.stringify(envelope) } };
}

/** Prints the port in the form that the benchmark reads. Ends the process at SIGTERM. */
export function announce(server: Server): void {
  console.log(`listening ${(server.address() as AddressInfo).port}`);
  process.on('SIGTERM', () => process.exit(0));
}

/** Returns a function that collects messages for `LINGER_MS` and sends them in one batch. Its promise resolves when the batch is acknowledged. */
export function createBatchedSend({ send }: Pick<RivalEngines, 'send'>): (message: Message) => Promise<void> {
  let batch: Message[] = [];
  let sent: Promise<void> | undefined;
  return (message) => {
    batch.push(message);
    sent ??= new Promise((resolve, reject) => {
      setTimeout(() => {
        const messages = batch;
        batch = [];
        sent = undefined;
        send(messages).then(resolve, reject);
      }, LINGER_MS);
    });
    return sent;
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
