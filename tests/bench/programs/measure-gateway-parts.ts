import { randomBytes, randomFillSync } from 'node:crypto';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { createMemoryRateLimiter } from '@weir/adapters/redis/memory-rate-limiter';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import { acceptServerEvent } from '@weir/domain/ingest/accept-body';
import { createEventIds } from '@weir/domain/ingest/event-id';
import { withoutClientAddress } from '@weir/domain/records/client-address-text';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { createSealAddress } from '@weir/domain/records/sealed-address';
import { hashApiKey, newApiKey } from '@weir/domain/registry/api-key';
import { createAuthenticate } from '@weir/gateway/admission/authenticate';
import { parseBody } from '@weir/gateway/http/read-request-body';
import { EVENTS_WITH_KEY } from '../load/load-requests.ts';
import { assertStored } from './assert-stored.ts';

export interface PartsTask {
  readonly folder: string;
  readonly batchRecords: number;
}

export interface Part {
  readonly name: string;
  /** CPU microseconds of this process (all threads) per request, with one number for each round. */
  readonly micros: readonly number[];
}

const LOOPS = 20_000;
const ROUNDS = 7;

async function main({ folder, batchRecords }: PartsTask): Promise<void> {
  const clock = Date.now;
  const retentionMs = () => Number.POSITIVE_INFINITY;
  const eventLog = await openLmdbEventLog({ folder: join(folder, 'log'), partitions: 4, clock, retentionMs });
  const stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
  const registry = await openLogRegistry({
    eventLog,
    clock,
    randomSalt: () => '',
    onDamage(error) {
      throw error;
    },
  });
  const limiter = createMemoryRateLimiter();
  const key = newApiKey(randomBytes);
  await registry.putKey({
    keyId: 'key_bench',
    siteId: 'demo',
    name: 'bench',
    hash: hashApiKey(key),
    scopes: ['events:write'],
    legacyIdentify: false,
    createdAt: clock(),
  });
  const authenticate = createAuthenticate(registry);
  const newEventId = createEventIds(clock, (bytes) => randomFillSync(bytes));

  const request = EVENTS_WITH_KEY.make(key)(0);
  const bytes = request.subarray(request.indexOf('\r\n\r\n') + 4);
  const body = parseBody(bytes);
  if (!('json' in body)) throw new Error(body.message);
  const { json, text } = body;
  const head = {
    eventId: newEventId(),
    kind: 'event',
    siteId: 'demo',
    receivedAt: clock(),
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0',
    acceptLanguage: '',
  } as const;
  const seal = createSealAddress(randomBytes(32).toString('hex'), randomBytes);
  const encode = () => encodeRawRecord({ ...head, sealedIp: seal('203.0.113.7') }, withoutClientAddress(text, json));
  const value = encode();
  const owner = { siteId: 'demo', eventId: head.eventId, userId: '', visitorId: 'v_1', idempotencyKey: '' };

  const batches = Math.ceil(LOOPS / batchRecords);
  const indexes = Array.from({ length: batchRecords }, (_, i) => i);
  let claimed = 0;
  const parts: readonly (readonly [string, () => Promise<void>])[] = [
    ['parse the body (the bare server does it too)', async () => times(() => parseBody(bytes))],
    ['validate it (the bare server does it too)', async () => times(() => acceptServerEvent(json, () => text))],
    ['authenticate: find the key by its cached hash', async () => times(() => authenticate(`Bearer ${key}`))],
    [
      'authenticate without the cached hash: compute the SHA-256',
      async () => times(() => registry.keyByHash(hashApiKey(key))),
    ],
    [
      'rate limit',
      async () => {
        for (let i = 0; i < LOOPS; i++) await limiter.take('events', 'key_bench', 1_000_000_000);
      },
    ],
    ['event ID', async () => times(() => newEventId())],
    [
      'partition key and raw record, address encrypted',
      async () => times(() => [partitionKey(owner, false), encode()]),
    ],
    [
      'claim and confirm an idempotency key',
      async () => {
        for (let batch = 0; batch < batches; batch++) {
          const keys = indexes.map(() => ({ siteId: 'demo', key: `order_${claimed++}`, owner: head.eventId }));
          await stateStore.claimKeys(keys);
          await stateStore.confirmKeys(keys);
        }
      },
    ],
    [
      'durable append',
      async () => {
        for (let batch = 0; batch < batches; batch++) {
          const outcomes = await eventLog.append(
            'bench',
            indexes.map((i) => ({ key: `demo/v/v_${(batch * batchRecords + i) % 5000}`, value })),
          );
          assertStored(outcomes);
        }
      },
    ],
  ];

  const measured = parts.map(([name]) => ({ name, micros: [] as number[] }));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, [, work]] of parts.entries()) {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) measured[index]?.micros.push((user + system) / LOOPS);
    }
  }
  console.log(JSON.stringify(measured satisfies readonly Part[]));
  await limiter.close();
  await registry.close();
  await stateStore.close();
  await eventLog.close();
}

function times(work: () => unknown): void {
  for (let i = 0; i < LOOPS; i++) work();
}

await main(JSON.parse(process.argv[2] ?? '{}') as PartsTask);
