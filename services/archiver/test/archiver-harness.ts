import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { GROUP_ARCHIVER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { type Archiver, type ArchiverDeps, startArchiver } from '../src/archiver.ts';
import { archivedRecords } from './archived-records.ts';

export const ADDRESS = 'sealed-address-of-the-client';

/** Gives each test of a file a log with two partitions and an empty archive. */
export function useArchiver() {
  const folders: string[] = [];
  const open: { close(): Promise<void> }[] = [];
  const errors: object[] = [];
  let eventLog: Awaited<ReturnType<typeof openLmdbEventLog>>;
  let store: ObjectStore;
  let written = 0;

  function makeFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'weir-archiver-'));
    folders.push(folder);
    return folder;
  }
  const openLog = (folder: string) =>
    openLmdbEventLog({ folder, partitions: 2, clock: Date.now, retentionMs: () => Number.POSITIVE_INFINITY });

  beforeEach(async () => {
    eventLog = await openLog(makeFolder());
    const s3 = { endpoint: undefined, region: 'us-east-1', pathStyle: false };
    store = await openObjectStore({ url: pathToFileURL(makeFolder()).href, s3 });
  });
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close();
    await eventLog.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    errors.length = 0;
  });

  return {
    get eventLog() {
      return eventLog;
    },
    get store() {
      return store;
    },
    makeFolder,
    /** The fields of the errors that the archivers of this test have logged. */
    errors,
    async start(
      limits: Partial<ArchiverDeps['limits']> = {},
      objects: ObjectStore = store,
      metrics = createMetrics(),
    ): Promise<Archiver> {
      const archiver = await startArchiver({
        eventLog,
        store: objects,
        clock: Date.now,
        logger: Object.assign(createLogger('silent'), { error: (fields: object) => void errors.push(fields) }),
        metrics,
        limits: { segmentBytesMax: 10_000, lingerMs: 50, retentionMs: undefined, upkeepMs: 3_600_000, ...limits },
      });
      open.push(archiver);
      return archiver;
    },
    async stop(archiver: Archiver): Promise<void> {
      open.splice(open.indexOf(archiver), 1);
      await archiver.close();
    },
    /** Appends this number of records to each of the two topics. */
    async append(count: number): Promise<void> {
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
    },
    /** Removes all records of both topics, as the retention does. */
    async expireRecords(): Promise<void> {
      for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
        const positions = await eventLog.positions(topic, 'none');
        await eventLog.removeBefore(
          topic,
          positions.map(({ end }) => end),
        );
      }
    },
    archived: (topic: string): Promise<readonly StoredRecord[]> => archivedRecords(store, topic),
    async inLog(topic: string): Promise<readonly StoredRecord[]> {
      const found: StoredRecord[] = [];
      for (const { partition, first, end } of await eventLog.positions(topic, 'none')) {
        for (let at = first; at < end; ) {
          const records = await eventLog.read(topic, partition, at, 1_000_000);
          found.push(...records);
          at += records.length;
        }
      }
      return found;
    },
    async caughtUp(): Promise<void> {
      for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
        await eventually(`${topic} is archived`, async () =>
          (await eventLog.positions(topic, GROUP_ARCHIVER)).every(({ end, committed }) => committed === end),
        );
      }
    },
    /** Replaces the log by an older copy of it. */
    async restoreLog(folder: string): Promise<void> {
      await eventLog.close();
      eventLog = await openLog(folder);
    },
  };
}

export const plain = (records: readonly StoredRecord[]): (Omit<StoredRecord, 'value'> & { readonly value: string })[] =>
  records.map((record) => ({ ...record, value: Buffer.from(record.value).toString() }));
