import { DependencyError } from '@weir/domain/errors';
import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { listExpiredStarts, putExpiredStart } from '@weir/runtime/archive/expired-start';
import { rewriteSegment } from '@weir/runtime/archive/rewrite-segment';
import { parseSegmentName } from '@weir/runtime/archive/segment-name';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { keepArchive } from '../src/archive-upkeep.ts';

import { ADDRESS, plain, useArchiver } from './archiver-harness.ts';

const harness = useArchiver();
const { start, stop, append, archived, inLog, caughtUp } = harness;

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
    ...harness.store,
    async create(name, body) {
      const isFirst = !tried.has(name);
      tried.add(name);
      const created = when === 'after' || !isFirst ? await harness.store.create(name, body) : false;
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
      ...harness.store,
      async create(name, body) {
        dead.signal.throwIfAborted();
        if (when === 'after') await harness.store.create(name, body);
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
      ...harness.store,
      async create(name, body) {
        late.push(() => harness.store.create(name, body));
        throw new DependencyError('partition_lost', 'of the test');
      },
    },
  );
  await eventually('a segment of each partition is to be stored', () => late.length >= 4);
  await stop(stopped);
  await start();
  await caughtUp();
  for await (const { name, storedAt } of harness.store.list('')) {
    const range = parseSegmentName(name);
    const erased = { headers: {}, value: new Uint8Array(0) };
    if (range !== undefined)
      await rewriteSegment(harness.store, range, storedAt, (record) => ({ ...record, ...erased }));
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
  for await (const { name, storedAt } of harness.store.list('')) {
    const range = parseSegmentName(name);
    if (range === undefined) continue;
    let wasStopped = false;
    const stopped: ObjectStore = {
      ...harness.store,
      // The process stops before it replaces the object, and continues when another process has replaced it.
      async replace(...args) {
        if (!wasStopped) await rewriteSegment(harness.store, range, storedAt, erase(true));
        wasStopped = true;
        return harness.store.replace(...args);
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

describe('records that retention has removed before they were archived are reported with their offsets', () => {
  const gapOf = (from: number, to: number) =>
    [TOPIC_RAW, TOPIC_ENRICHED].flatMap((topic) => [0, 1].map((partition) => ({ topic, partition, from, to })));
  /** An object store that cannot store objects while `away` returns true. It adds the names of these objects to `refused`. */
  const refusing = (refused: Set<string>, away: () => boolean): ObjectStore => ({
    ...harness.store,
    async create(name, body) {
      if (!away()) return harness.store.create(name, body);
      refused.add(name);
      throw new DependencyError('object_store_unavailable', 'not now');
    },
  });
  const reported = async (from: number, to: number): Promise<void> => {
    await caughtUp();
    expect(harness.errors).toHaveLength(4);
    expect(harness.errors).toEqual(expect.arrayContaining(gapOf(from, to)));
    for (const topic of [TOPIC_RAW, TOPIC_ENRICHED])
      expect((await archived(topic)).map(({ offset }) => offset)).not.toContain(from);
  };

  test('while the archiver was stopped', async () => {
    await append(20);
    const first = await start();
    await caughtUp();
    await stop(first);
    await append(20);
    await harness.expireRecords();
    await append(20);
    await start();
    await reported(10, 19);
  });

  test('while the archiver was stopped, after it had committed the range of a segment', async () => {
    await append(20);
    const refused = new Set<string>();
    const first = await start(
      {},
      refusing(refused, () => true),
    );
    await eventually('a segment of each partition is refused', () => refused.size === 4);
    await stop(first);
    await harness.expireRecords();
    await append(20);
    await start();
    await reported(0, 9);
  });

  test('while the archiver could not store a segment', async () => {
    await append(20);
    const refused = new Set<string>();
    let isAway = true;
    await start(
      {},
      refusing(refused, () => isAway),
    );
    await eventually('a segment of each partition is refused', () => refused.size === 4);
    await append(20);
    await harness.expireRecords();
    await append(20);
    isAway = false;
    await reported(10, 19);
  });

  test('not if the archiver has never committed an offset', async () => {
    await append(20);
    await harness.expireRecords();
    await append(20);
    await start();
    await caughtUp();
    expect(harness.errors).toEqual([]);
  });
});

test('the manifest is made from the listing; old segments are deleted', async () => {
  await append(300);
  await start();
  await caughtUp();
  const logger = createLogger('silent');
  await keepArchive({ store: harness.store, clock: Date.now, logger, limits: { retentionMs: 3_600_000, upkeepMs: 1 } });
  const partitions = await summariseArchive(harness.store);
  expect(partitions).toHaveLength(4);
  for (const { ranges, bytes } of partitions) {
    expect(ranges).toEqual([[0, 149]]);
    expect(bytes).toBeGreaterThan(0);
  }
  const nextDay = (): number => Date.now() + 86_400_000;
  await keepArchive({ store: harness.store, clock: nextDay, logger, limits: { retentionMs: 3_600_000, upkeepMs: 1 } });
  expect(await summariseArchive(harness.store)).toMatchObject(
    Array(4).fill({ segments: 0, bytes: 0, ranges: [], expiredBefore: 150 }),
  );
});

test('what has expired is stored before segments are deleted, and does not go back', async () => {
  await append(300);
  const first = await start();
  await caughtUp();
  await stop(first);
  const dying: ObjectStore = {
    ...harness.store,
    delete: async () => {
      throw new DependencyError('object_store_unavailable', 'killed');
    },
  };
  const logger = createLogger('silent');
  const later = Date.now() + 86_400_000;
  const limits = { retentionMs: 3_600_000, upkeepMs: 1 };
  await expect(keepArchive({ store: dying, clock: () => later, logger, limits })).rejects.toThrow('killed');
  const segments = (await summariseArchive(harness.store)).reduce((sum, partition) => sum + partition.segments, 0);
  const [start0] = await listExpiredStarts(harness.store);
  // The enriched records of this test have no raw offset, so `rawNext` is 0.
  expect(start0).toMatchObject({ topic: TOPIC_ENRICHED, partition: 0, next: 150, rawNext: 0 });
  await keepArchive({ store: harness.store, clock: () => later, logger, limits });
  expect(segments).toBeGreaterThan(4);
  expect((await summariseArchive(harness.store)).map((partition) => partition.segments)).toEqual([0, 0, 0, 0]);
  if (start0 !== undefined) await putExpiredStart(harness.store, { ...start0, next: 70 });
  expect((await listExpiredStarts(harness.store)).map(({ next }) => next)).toEqual([150, 150, 150, 150]);
});
