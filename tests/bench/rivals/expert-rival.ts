import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import type { ServerEventFields } from '@weir/domain/ingest/server-event';
import type { JsonObject } from '@weir/domain/json/json';
import type { ChainableCommander } from 'ioredis';
import {
  ACCEPTED,
  announce,
  claimArguments,
  DUPLICATE,
  LIMIT_PER_MINUTE,
  LINGER_MS,
  openRivalEngines,
  type RivalRecord,
  recordOf,
  WINDOW_SECONDS,
} from './rival-engines.ts';

// What an expert would write for speed alone: node:http without a framework, and batches of concurrent requests. Each batch is one pipeline of
// Redis commands and one send of kafkajs. If Redis or Kafka fails, the process ends.

interface Waiting {
  readonly apiKey: string;
  readonly event: ServerEventFields;
  readonly record: RivalRecord;
  readonly response: ServerResponse;
}

const { redis, send, keyOf } = await openRivalEngines();
const ACCEPTED_TEXT = JSON.stringify(ACCEPTED);
const DUPLICATE_TEXT = JSON.stringify(DUPLICATE);
let batch: Waiting[] = [];

const server = createServer((request, response) => {
  const apiKey = keyOf(request.headers);
  if (apiKey === undefined) {
    response.writeHead(401).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => take(apiKey, request, response, Buffer.concat(chunks).toString()));
});

function take(apiKey: string, request: IncomingMessage, response: ServerResponse, text: string): void {
  const body = JSON.parse(text) as JsonObject;
  const event = acceptServerEvent(body, () => text);
  if (event instanceof FieldError) {
    response.writeHead(400).end();
    return;
  }
  if (batch.length === 0) setTimeout(() => void sendBatch(), LINGER_MS);
  batch.push({ apiKey, event, record: recordOf(body, event, request.headers), response });
}

async function sendBatch(): Promise<void> {
  const waiting = batch;
  batch = [];
  const counts = new Map<string, number>();
  for (const { apiKey } of waiting) counts.set(apiKey, (counts.get(apiKey) ?? 0) + 1);
  const keyed = waiting.filter(({ event }) => (event.idempotency_key ?? '') !== '');
  const pipeline = redis.pipeline();
  for (const [apiKey, count] of counts) countInPipeline(pipeline, apiKey, count);
  for (const { event, record } of keyed) pipeline.set(...claimArguments(event.idempotency_key ?? '', record.eventId));
  const answers = ((await pipeline.exec()) ?? []).map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });

  const limits = new Map([...counts.keys()].map((apiKey, n) => [apiKey, limitOf(answers.slice(3 * n, 3 * n + 3))]));
  const claims = answers.slice(3 * counts.size);
  const duplicates = new Set(keyed.filter((_, n) => claims[n] === null));
  const fresh = waiting.filter((one) => !duplicates.has(one) && limits.get(one.apiKey)?.allowed === true);
  if (fresh.length > 0) await send(fresh.map(({ record }) => record.message));
  for (const one of waiting) answer(one, duplicates.has(one), limits.get(one.apiKey));
}

interface Limit {
  readonly allowed: boolean;
  readonly headers: readonly string[];
}

function countInPipeline(pipeline: ChainableCommander, apiKey: string, count: number): void {
  pipeline
    .set(`limit:${apiKey}`, 0, 'EX', WINDOW_SECONDS, 'NX')
    .incrby(`limit:${apiKey}`, count)
    .pttl(`limit:${apiKey}`);
}

function limitOf([, taken, leftMs]: readonly unknown[]): Limit {
  const remaining = LIMIT_PER_MINUTE - Number(taken);
  return {
    allowed: remaining >= 0,
    headers: [
      'RateLimit-Limit',
      String(LIMIT_PER_MINUTE),
      'RateLimit-Remaining',
      String(remaining),
      'RateLimit-Reset',
      String(Math.ceil(Number(leftMs) / 1000)),
    ],
  };
}

function answer({ response }: Waiting, isDuplicate: boolean, limit: Limit | undefined): void {
  if (limit?.allowed !== true) {
    response.writeHead(429).end();
    return;
  }
  const text = isDuplicate ? DUPLICATE_TEXT : ACCEPTED_TEXT;
  response.writeHead(isDuplicate ? 200 : 202, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(text.length),
    ...limit.headers,
  ]);
  response.end(text);
}

server.listen(0, '127.0.0.1', () => announce(server));
