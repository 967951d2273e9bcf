import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { DependencyError } from '@weir/domain/errors';
import { GROUP_ARCHIVER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { listExpiredStarts, putExpiredStart } from '@weir/runtime/archive/expired-start';
import { rewriteSegment } from '@weir/runtime/archive/rewrite-segment';
import { parseSegmentName } from '@weir/runtime/archive/segment-name';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { keepArchive } from '../src/archive-upkeep.ts';
import { type Archiver, type ArchiverDeps, startArchiver } from '../src/archiver.ts';
import { archivedRecords } from './archived-records.ts';

const ADDRESS = 'sealed-address-of-the-client';
const folders: string[] = [];
const open: { close(): Promise<void> }[] = [];
let eventLog: Awaited<ReturnType<typeof openLmdbEventLog>>;
let store: ObjectStore;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-archiver-'));
  folders.push(folder);
  return folder;
}

beforeEach(async () => {
  const retentionMs = (): number => Number.POSITIVE_INFINITY;
  eventLog = await openLmdbEventLog({ folder: makeFolder(), partitions: 2, clock: Date.now, retentionMs });
  const s3 = { endpoint: undefined, region: 'us-east-1', pathStyle: false };
  store = await openObjectStore({ url: pathToFileURL(makeFolder()).href, s3 });
});

afterEach(async () => {
  for (const running of open.splice(0)) await running.close();
  await eventLog.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Limits = ArchiverDeps['limits'];

async function start(limits: Partial<Limits> = {}, objects: ObjectStore = store): Promise<Archiver> {
  const archiver = await startArchiver({
    eventLog,
    store: objects,
    clock: Date.now,
    logger: createLogger('silent'),
    metrics: createMetrics(),
    limits: { segmentBytesMax: 10_000, lingerMs: 50, retentionMs: undefined, upkeepMs: 3_600_000, ...limits },
  });
  open.push(archiver);
  return archiver;
}

async function stop(archiver: Archiver): Promise<void> {
  open.splice(open.indexOf(archiver), 1);
  await archiver.close();
}

let written = 0;
async function append(count: number): Promise<void> {
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    const records = Array.from({ length: count }, (_, at) => ({
      partition: (written + at) % 2,
      value: Buffer.from(
        `{"eventId":"e${written + at}","sealedIp":"${ADDRESS}","userAgent":"\\"sealedIp\\":\\"x\\"","body":{"n":9007199254740993,"sealedIp":"mine"}}`,
      ),
      headers: { n: String(written + at) },
    }));
    await eventLog.append(topic, records);
  }
  written += count;
}

const archived = (topic: string): Promise<readonly StoredRecord[]> => archivedRecords(store, topic);

async function inLog(topic: string): Promise<readonly StoredRecord[]> {
  const found: StoredRecord[] = [];
  for (const { partition, first, end } of await eventLog.positions(topic, 'none')) {
    for (let at = first; at < end; ) {
      const records = await eventLog.read(topic, partition, at, 1_000_000);
      found.push(...records);
      at += records.length;
    }
  }
  return found;
}

async function caughtUp(): Promise<void> {
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    await eventually(`${topic} is archived`, async () =>
      (await eventLog.positions(topic, GROUP_ARCHIVER)).every(({ end, committed }) => committed === end),
    );
  }
}

const plain = (records: readonly StoredRecord[]): (Omit<StoredRecord, 'value'> & { readonly value: string })[] =>
  records.map((record) => ({ ...record, value: Buffer.from(record.value).toString() }));

test('archives every record exactly once and without the address, also after restarts', async () => {
  await append(500);
  const first = await start();
  await append(500);
  await caughtUp();
  await stop(first);
  await append(300);
  await start();
  await caughtUp();

  expect(plain(await archived(TOPIC_ENRICHED))).toEqual(plain(await inLog(TOPIC_ENRICHED)));
  const withoutAddress = (text: string): string =>
    text.replace(`"sealedIp":"${ADDRESS}",`, '').replace(',"body":', ',"sealedIp":"","body":');
  const raw = await archived(TOPIC_RAW);
  expect(plain(raw)).toEqual(
    plain(await inLog(TOPIC_RAW)).map((record) => ({ ...record, value: withoutAddress(record.value) })),
  );
  expect(JSON.stringify(plain(raw))).not.toContain(ADDRESS);
});

test('an open segment is discarded at the end, and its records are archived after the next start', async () => {
  await append(20);
  const first = await start({ lingerMs: 3_600_000 });
  await eventually('all partitions are assigned', () =>
    first.consumers.every(({ running }) => running.status().length === 2),
  );
  await stop(first);
  expect(await archived(TOPIC_RAW)).toEqual([]);
  await start();
  await caughtUp();
  expect(await archived(TOPIC_RAW)).toHaveLength(20);
});

/** An object store that fails once for each object, before or after it has stored the object. */
function failing(when: 'before' | 'after'): ObjectStore {
  const tried = new Set<string>();
  return {
    ...store,
    async create(name, body) {
      const isFirst = !tried.has(name);
      tried.add(name);
      const created = when === 'after' || !isFirst ? await store.create(name, body) : false;
      if (isFirst) throw new DependencyError('object_store_unavailable', 'not now');
      return created;
    },
  };
}

test.each(['before', 'after'] as const)('an object store that fails %s it has stored an object', async (when) => {
  await append(400);
  await start({}, failing(when));
  await append(400);
  await caughtUp();
  expect(plain(await archived(TOPIC_ENRICHED))).toEqual(plain(await inLog(TOPIC_ENRICHED)));
});

test('after a kill between plan and object, or between object and commit, the next owner stores the same range', async () => {
  await append(400);
  const names: string[] = [];
  for (const when of ['before', 'after'] as const) {
    const before = names.length;
    const dying: ObjectStore = {
      ...store,
      async create(name, body) {
        dead.signal.throwIfAborted();
        if (when === 'after') await store.create(name, body);
        names.push(name);
        return new Promise<boolean>((_, reject) =>
          dead.signal.addEventListener('abort', () => reject(dead.signal.reason)),
        );
      },
    };
    const dead = new AbortController();
    const killed = await start({ segmentBytesMax: 3_000 + before }, dying);
    await eventually('four objects are under way', () => names.length >= before + 4);
    dead.abort(new DependencyError('partition_lost', 'killed'));
    await stop(killed);
  }
  // Both processes used the same four names: one for each of the two partitions of the two topics. The second process stored the ranges
  // that the first process had planned.
  expect(new Set(names).size).toBe(4);
  await start();
  await caughtUp();
  expect(plain(await archived(TOPIC_ENRICHED))).toEqual(plain(await inLog(TOPIC_ENRICHED)));
});

test('an archiver that was stopped during an erasure does not bring erased records back', async () => {
  await append(200);
  const late: (() => Promise<boolean>)[] = [];
  const stopped = await start(
    {},
    {
      ...store,
      async create(name, body) {
        late.push(() => store.create(name, body));
        throw new DependencyError('partition_lost', 'of the test');
      },
    },
  );
  await eventually('a segment of each partition is to be stored', () => late.length >= 4);
  await stop(stopped);
  await start();
  await caughtUp();
  for await (const { name, storedAt } of store.list('')) {
    const range = parseSegmentName(name);
    const erased = { headers: {}, value: new Uint8Array(0) };
    if (range !== undefined) await rewriteSegment(store, range, storedAt, (record) => ({ ...record, ...erased }));
  }
  for (const wake of late) expect(await wake()).toBe(false);
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    const records = plain(await archived(topic));
    expect(records).toHaveLength(200);
    expect(records.filter(({ value }) => value !== '')).toEqual([]);
  }
});

test('a process that was stopped while it rewrote a segment does not undo a later rewrite', async () => {
  await append(200);
  await start();
  await caughtUp();
  const erase = (odd: boolean) => (record: StoredRecord) =>
    record.value.length > 0 && record.offset % 2 === Number(odd)
      ? { ...record, headers: {}, value: new Uint8Array(0) }
      : record;
  for await (const { name, storedAt } of store.list('')) {
    const range = parseSegmentName(name);
    if (range === undefined) continue;
    let wasStopped = false;
    const stopped: ObjectStore = {
      ...store,
      // The process stops before it replaces the object, and continues when another process has replaced it.
      async replace(...args) {
        if (!wasStopped) await rewriteSegment(store, range, storedAt, erase(true));
        wasStopped = true;
        return store.replace(...args);
      },
    };
    await rewriteSegment(stopped, range, storedAt, erase(false));
    expect(wasStopped).toBe(true);
  }
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    const records = await archived(topic);
    expect(records).toHaveLength(200);
    expect(records.filter(({ value }) => value.length > 0)).toEqual([]);
  }
});

/** Names of all objects of the archive. */
async function namesInStore(): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of store.list('')) names.push(name);
  return names;
}

/** Replaces the log by an older copy of it. */
async function restoreLog(folder: string): Promise<void> {
  await eventLog.close();
  const retentionMs = (): number => Number.POSITIVE_INFINITY;
  eventLog = await openLmdbEventLog({ folder, partitions: 2, clock: Date.now, retentionMs });
}

const alarmsOf = (archiver: Archiver): readonly string[] =>
  archiver.consumers.flatMap(({ running }) => running.status().flatMap(({ alarm }) => alarm ?? []));

test('after a restore of the log, segments of the lost history stop the archiver until they are moved away', async () => {
  await append(300);
  const first = await start();
  await caughtUp();
  await stop(first);
  const known = await namesInStore();
  const backup = makeFolder();
  await eventLog.copyTo(backup);
  await append(200);
  const second = await start();
  await caughtUp();
  await stop(second);
  const lost = (await namesInStore()).filter((name) => !known.includes(name));
  const before = [...(await archived(TOPIC_RAW)), ...(await archived(TOPIC_ENRICHED))];

  await restoreLog(backup);
  // The log grows past the offsets of the lost records.
  await append(700);
  const third = await start();
  await eventually('each partition has an alarm', () => alarmsOf(third).length === 4);
  for (const alarm of alarmsOf(third)) {
    expect(alarm).toContain('is archived before offset 150, but the archive has');
    expect(lost.some((name) => alarm.includes(`from ${name} to `))).toBe(true);
  }
  expect([...(await archived(TOPIC_RAW)), ...(await archived(TOPIC_ENRICHED))]).toEqual(before);

  for (const name of lost) await store.delete(name);
  await caughtUp();
  expect(alarmsOf(third)).toEqual([]);
  expect(plain(await archived(TOPIC_ENRICHED))).toEqual(plain(await inLog(TOPIC_ENRICHED)));
  expect(await archived(TOPIC_RAW)).toHaveLength(1_000);
});

test('after a restore of the log, a partition that has expired beyond its commit is not archived', async () => {
  await append(20);
  const first = await start();
  await caughtUp();
  await stop(first);
  const start0 = { topic: TOPIC_RAW, logId: eventLog.logId, partition: 0, next: 11, rawNext: 11, storedAt: 1 };
  await putExpiredStart(store, start0);
  const second = await start();
  await eventually('the partition has an alarm', () => alarmsOf(second).length === 1);
  expect(alarmsOf(second)[0]).toContain(`expired/${TOPIC_RAW}/${eventLog.logId}/0000/0000000000000011.json`);
});

test('the manifest is made from the listing; old segments are deleted', async () => {
  await append(300);
  await start();
  await caughtUp();
  const logger = createLogger('silent');
  await keepArchive({ store, clock: Date.now, logger, limits: { retentionMs: 3_600_000, upkeepMs: 1 } });
  const partitions = await summariseArchive(store);
  expect(partitions).toHaveLength(4);
  for (const { ranges, bytes } of partitions) {
    expect(ranges).toEqual([[0, 149]]);
    expect(bytes).toBeGreaterThan(0);
  }
  const nextDay = (): number => Date.now() + 86_400_000;
  await keepArchive({ store, clock: nextDay, logger, limits: { retentionMs: 3_600_000, upkeepMs: 1 } });
  expect(await summariseArchive(store)).toMatchObject(
    Array(4).fill({ segments: 0, bytes: 0, ranges: [], expiredBefore: 150 }),
  );
});

test('what has expired is stored before segments are deleted, and does not go back', async () => {
  await append(300);
  const first = await start();
  await caughtUp();
  await stop(first);
  const dying: ObjectStore = {
    ...store,
    delete: async () => {
      throw new DependencyError('object_store_unavailable', 'killed');
    },
  };
  const logger = createLogger('silent');
  const later = Date.now() + 86_400_000;
  const limits = { retentionMs: 3_600_000, upkeepMs: 1 };
  await expect(keepArchive({ store: dying, clock: () => later, logger, limits })).rejects.toThrow('killed');
  const segments = (await summariseArchive(store)).reduce((sum, partition) => sum + partition.segments, 0);
  const [start0] = await listExpiredStarts(store);
  // The enriched records of this test have no raw offset, so `rawNext` is 0.
  expect(start0).toMatchObject({ topic: TOPIC_ENRICHED, partition: 0, next: 150, rawNext: 0 });
  await keepArchive({ store, clock: () => later, logger, limits });
  expect(segments).toBeGreaterThan(4);
  expect((await summariseArchive(store)).map((partition) => partition.segments)).toEqual([0, 0, 0, 0]);
  if (start0 !== undefined) await putExpiredStart(store, { ...start0, next: 70 });
  expect((await listExpiredStarts(store)).map(({ next }) => next)).toEqual([150, 150, 150, 150]);
});
