import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { acceptCollectHit, acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { FieldError } from '@weir/domain/ingest/field-error';
import type { JsonObject } from '@weir/domain/json/json';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { assertStored } from './assert-stored.ts';

// The baseline for the gateway. Like the gateway, it parses the bodies, validates them with the same functions, and sends the same answers. Unlike
// the gateway, it has no framework, API keys, rate limits or event log. If a folder is given, it has an event log in this folder, and it answers when
// the body is durable.

const ACCEPTED = JSON.stringify({ status: 'success', data: { accepted: true } });
/** The default of WEIR_APPEND_LINGER_MS. */
const LINGER_MS = 5;

const [folder] = process.argv.slice(2);
const whenStored = folder === undefined ? (_body: Buffer, done: () => void) => done() : await openAppends(folder);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => handle(request, response, Buffer.concat(chunks)));
});

function handle(request: IncomingMessage, response: ServerResponse, bytes: Buffer): void {
  const text = bytes.toString();
  const body = JSON.parse(text) as JsonObject;
  const isCollect = request.url === '/api/collect';
  const checked = isCollect ? acceptCollectHit(body, () => text) : acceptServerEvent(body, () => text);
  if (checked instanceof FieldError) response.writeHead(400).end();
  else whenStored(bytes, () => accept(response, isCollect));
}

function accept(response: ServerResponse, isCollect: boolean): void {
  if (isCollect) response.writeHead(204).end();
  else {
    response.writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': ACCEPTED.length });
    response.end(ACCEPTED);
  }
}

/** Opens an event log. The returned function appends a body, together with all bodies of the same 5 ms, and calls `done` when it is durable. */
async function openAppends(path: string): Promise<(body: Buffer, done: () => void) => void> {
  const eventLog = await openLmdbEventLog({
    folder: path,
    partitions: 1,
    clock: Date.now,
    retentionMs: () => Number.POSITIVE_INFINITY,
  });
  let waiting: { readonly body: Buffer; readonly done: () => void }[] = [];
  async function append(): Promise<void> {
    const batch = waiting;
    waiting = [];
    assertStored(
      await eventLog.append(
        TOPIC_RAW,
        batch.map(({ body }) => ({ partition: 0, value: body })),
      ),
    );
    for (const { done } of batch) done();
  }
  return (body, done) => {
    if (waiting.push({ body, done }) === 1) setTimeout(append, LINGER_MS);
  };
}

server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));
