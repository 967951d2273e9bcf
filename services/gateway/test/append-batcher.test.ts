import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';
import type { StateStore } from '@weir/ports/state-store';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { deferred, eventually } from '@weir/testkit/eventually';
import { createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { createKeyClaims } from '../src/admission/key-claims.ts';
import { type AppendBatcher, createAppendBatcher } from '../src/append/append-batcher.ts';
import { createGatewayMetrics } from '../src/gateway-metrics.ts';

const MIB = 1024 * 1024;
const clock = Date.now;

let folder: string;
let log: EventLog;
let stateStore: StateStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-batcher-'));
  const retentionMs = () => 86_400_000;
  log = await openLmdbEventLog({ folder: join(folder, 'log'), partitions: 2, clock, retentionMs });
  stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
});
afterEach(async () => {
  await Promise.all([log.close(), stateStore.close()]);
  rmSync(folder, { recursive: true });
});

/** A batcher whose appends call `seen` with their records, and then wait for the promise that `seen` returns. */
function batcherThat(
  seen: (records: readonly AppendRecord[]) => void | Promise<void>,
  lingerMs: number,
  eventLog: EventLog = log,
): AppendBatcher {
  const metrics = createGatewayMetrics(createMetrics(), () => 0);
  return createAppendBatcher({
    eventLog: {
      async append(topic, records) {
        await seen(records);
        return eventLog.append(topic, records);
      },
    },
    keyClaims: createKeyClaims(stateStore, metrics),
    lingerMs,
    clock,
    metrics,
  });
}

const claim = (owner: string) => ({ siteId: 'site', key: 'one', owner });
const sendKeyed = (batcher: AppendBatcher, owner: string) =>
  batcher.append({ partition: 0, value: Buffer.from(owner) }, claim(owner), { siteId: 'site', keyId: 'key' });
const send = (batcher: AppendBatcher, bytes: number) =>
  batcher.append({ partition: 0, value: Buffer.alloc(bytes, 'x') }, undefined, { siteId: 'site', keyId: 'key' });

it('many large concurrent bodies are appended in batches that the log accepts', async () => {
  const batches: number[] = [];
  const batcher = batcherThat((records) => {
    batches.push(records.reduce((sum, { value }) => sum + value.length, 0));
  }, 1000);
  const results = Array.from({ length: 400 }, () => send(batcher, 64 * 1024));
  await batcher.drain();
  expect(new Set(await Promise.all(results))).toEqual(new Set(['stored']));
  expect(batches.map((bytes) => bytes / MIB)).toEqual([8, 8, 8, 1]);
});

// The linger time is longer than these tests, so a batch that waits for the end of the linger time is not sent during a test.
const LINGER_MS = 600_000;

it('a batch is sent at once if no append is in flight; otherwise the requests wait for the append and are sent together', async () => {
  const batches: number[] = [];
  const { promise: held, resolve: release } = deferred();
  const batcher = batcherThat((records) => {
    batches.push(records.length);
    return held;
  }, LINGER_MS);
  const first = [send(batcher, 1), send(batcher, 1)];
  await eventually('sent', async () => batches.length === 1);
  const second = [send(batcher, 1), send(batcher, 1), send(batcher, 1)];
  await new Promise(setImmediate);
  expect(batches).toEqual([2]);
  release();
  expect(await Promise.all([...first, ...second])).toEqual(Array(5).fill('stored'));
  expect(batches).toEqual([2, 3]);
});

it('after large batches, requests wait for the end of the linger, also if no append is in flight', async () => {
  const batches: number[] = [];
  const batcher = batcherThat((records) => void batches.push(records.length), LINGER_MS);
  while ((batches.at(-1) ?? 0) < 512 || batches.length < 3) {
    const large = Array.from({ length: 512 }, () => send(batcher, 1));
    await Promise.all(large);
  }
  const sent = batches.length;
  const one = send(batcher, 1);
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(batches).toHaveLength(sent);
  await batcher.drain();
  expect(await one).toBe('stored');
});

it('if the log fails, concurrent requests with one key fail with the first of them, and the key is free', async () => {
  const appended: number[] = [];
  let fails = true;
  const faulty = createFaultyEventLog(
    log,
    async () => undefined,
    () => (fails ? 'lost-unknown' : 'none'),
  );
  const batcher = batcherThat((records) => void appended.push(records.length), 0, faulty);
  const together = Array.from({ length: 12 }, (_, n) => sendKeyed(batcher, `owner-${n}`));
  expect(await Promise.all(together)).toEqual(Array(12).fill('unavailable'));
  expect(appended).toEqual([1]);

  fails = false;
  expect(await sendKeyed(batcher, 'retry')).toBe('stored');
  expect(await sendKeyed(batcher, 'later')).toBe('duplicate');
});
