import { randomBytes, randomFillSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { acceptCollectHit, acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { createEventIds } from '@weir/domain/ingest/event-id';
import { FieldError } from '@weir/domain/ingest/field-error';
import type { JsonObject } from '@weir/domain/json/json';
import { withoutClientAddress } from '@weir/domain/records/client-address-text';
import { encodeRawRecord, type RawRecordHead } from '@weir/domain/records/raw-record';
import { createSealAddress } from '@weir/domain/records/sealed-address';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { AppendRecord } from '@weir/ports/event-log';
import type { KeyClaim } from '@weir/ports/state-store';
import { assertStored } from './assert-stored.ts';

// The baseline for the gateway. Like the gateway, it parses the bodies, validates them with the same functions, and sends the same answers. Unlike
// the gateway, it has no framework, API keys, rate limits, event log or metrics. If a folder is given, it does only the work that the guarantees of
// the gateway need: it encrypts the client IP, claims the idempotency keys of a batch, appends its records to an event log, and answers when they
// are durable. It has no handling of failures, and no limit of waiting requests.

const ACCEPTED = JSON.stringify({ status: 'success', data: { accepted: true } });
/** The default of WEIR_APPEND_LINGER_MS. */
const LINGER_MS = 5;

/** As in the gateway. */
const CONFIRM_LINGER_MS = 20;
const SITE_ID = 'bench';

interface Accepted {
  readonly request: IncomingMessage;
  readonly body: JsonObject;
  readonly text: string;
  readonly isCollect: boolean;
}

const [folder] = process.argv.slice(2);
const whenStored = folder === undefined ? (_accepted: Accepted, done: () => void) => done() : await openAppends(folder);

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
  else whenStored({ request, body, text, isCollect }, () => accept(response, isCollect));
}

function accept(response: ServerResponse, isCollect: boolean): void {
  if (isCollect) response.writeHead(204).end();
  else {
    response.writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': ACCEPTED.length });
    response.end(ACCEPTED);
  }
}

/** Opens the engines. The returned function stores a body, together with all bodies of the same 5 ms, and calls `done` when it is durable. */
async function openAppends(path: string): Promise<(accepted: Accepted, done: () => void) => void> {
  const clock = Date.now;
  const retentionMs = () => Number.POSITIVE_INFINITY;
  const eventLog = await openLmdbEventLog({ folder: join(path, 'log'), partitions: 1, clock, retentionMs });
  const stateStore = await openLmdbStateStore({ folder: join(path, 'state'), clock });
  const newEventId = createEventIds(clock, (bytes) => randomFillSync(bytes));
  const seal = createSealAddress(randomBytes(32).toString('hex'), randomBytes);
  let records: AppendRecord[] = [];
  let claims: KeyClaim[] = [];
  let waiting: (() => void)[] = [];
  let confirming: KeyClaim[] = [];

  async function append(): Promise<void> {
    const batch = { records, claims, waiting };
    records = [];
    claims = [];
    waiting = [];
    if (batch.claims.length > 0) {
      const outcomes = await stateStore.claimKeys(batch.claims);
      if (outcomes.some((outcome) => outcome !== 'claimed')) throw new Error('a key was used before');
    }
    assertStored(await eventLog.append(TOPIC_RAW, batch.records));
    for (const done of batch.waiting) done();
    if (batch.claims.length === 0) return;
    if (confirming.length === 0) setTimeout(confirm, CONFIRM_LINGER_MS);
    confirming.push(...batch.claims);
  }

  async function confirm(): Promise<void> {
    const together = confirming;
    confirming = [];
    await stateStore.confirmKeys(together);
  }

  return ({ request: { headers, socket }, body, text, isCollect }, done) => {
    const eventId = newEventId();
    const head: RawRecordHead = {
      eventId,
      kind: isCollect ? 'collect' : 'event',
      siteId: SITE_ID,
      receivedAt: clock(),
      sealedIp: seal(socket.remoteAddress ?? ''),
      userAgent: headers['user-agent'] ?? '',
      acceptLanguage: headers['accept-language'] ?? '',
    };
    records.push({ partition: 0, value: encodeRawRecord(head, withoutClientAddress(text, body)) });
    const key = body.idempotency_key;
    if (typeof key === 'string') claims.push({ siteId: SITE_ID, key, owner: eventId });
    if (waiting.push(done) === 1) setTimeout(append, LINGER_MS);
  };
}

server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));
