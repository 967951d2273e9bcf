import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { HEADER_RAW_OFFSET, RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { GROUP_ENRICHER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics, type Metrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { type Enricher, type EnricherLimits, startEnricher } from '../../src/enricher.ts';
import { createCountingEnrichment, type TestRecord } from './loop-enrichment.ts';

const START = Date.UTC(2026, 5, 15, 12);
export const PARTITIONS = 2;

/** One outcome in the enriched topic. */
export interface Seen {
  readonly raw: number;
  readonly outcome: string;
  readonly visitor: string;
  readonly value: number | null;
}

export interface Harness {
  readonly eventLog: EventLog;
  stateStore: StateStore;
  readonly time: { now: number; retentionMs: number };
  put(partition: number, records: readonly TestRecord[]): Promise<void>;
  start(
    ports?: { eventLog?: EventLog; stateStore?: StateStore; metrics?: Metrics; disk?: DiskSpace },
    limits?: EnricherLimits,
  ): Promise<Enricher>;
  /** Resolves when the group has committed all records of the raw topic. */
  caughtUp(): Promise<void>;
  /** All records of the enriched partition, including repeats. */
  enriched(partition: number): Promise<readonly Seen[]>;
  /** Replaces the state store by an empty one, as after a loss. */
  wipeState(): Promise<void>;
  /** Keeps a copy of the state. The returned function restores that copy. */
  saveState(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function openHarness(): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-loop-'));
  const time = { now: START, retentionMs: 72 * 3600_000 };
  const clock = (): number => time.now;
  let states = 0;
  const openState = (): Promise<StateStore> => openLmdbStateStore({ folder: join(folder, `state-${states++}`), clock });
  const eventLog = await openLmdbEventLog({
    folder: join(folder, 'log'),
    partitions: PARTITIONS,
    clock,
    retentionMs: () => time.retentionMs,
  });
  let readers = 0;
  const started: Enricher[] = [];

  const harness: Harness = {
    eventLog,
    stateStore: undefined as unknown as StateStore,
    time,
    async put(partition, records) {
      const answers = await eventLog.append(
        TOPIC_RAW,
        records.map((record) => ({ partition, value: Buffer.from(JSON.stringify(record)) })),
      );
      expect(answers.every((answer) => answer.status === 'stored')).toBe(true);
    },
    async start(ports, limits) {
      const enricher = await startEnricher({
        eventLog: ports?.eventLog ?? eventLog,
        stateStore: ports?.stateStore ?? harness.stateStore,
        // The counting enrichment needs no salt, so the registry is never used.
        registry: {} as Registry,
        enrichment: createCountingEnrichment(eventLog.logId),
        clock,
        logger: createLogger('silent'),
        metrics: ports?.metrics ?? createMetrics(),
        disk: ports?.disk,
        limits: { batchRecordsMax: 7, ...limits },
      });
      started.push(enricher);
      return enricher;
    },
    async caughtUp() {
      await eventually('the enricher has caught up', async () => {
        const positions = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
        return positions.every(({ end, committed }) => (committed ?? 0) === end);
      });
    },
    async enriched(partition) {
      const end = (await eventLog.positions(TOPIC_ENRICHED, 'test'))[partition]?.end ?? 0;
      const records: StoredRecord[] = [];
      const subscription = await eventLog.consume({
        topic: TOPIC_ENRICHED,
        group: `test-${readers++}`,
        async open(handle) {
          return {
            async handle(batch) {
              if (handle.partition === partition) records.push(...batch);
            },
            async close() {},
          };
        },
        onError(error) {
          throw error;
        },
      });
      await eventually('all outcomes are read', () => records.length >= end);
      await subscription.close();
      return records.map(toSeen);
    },
    async wipeState() {
      await harness.stateStore.close();
      harness.stateStore = await openState();
    },
    async saveState() {
      await harness.stateStore.close();
      const copy = join(folder, `copy-of-${states - 1}`);
      cpSync(join(folder, `state-${states - 1}`), copy, { recursive: true });
      harness.stateStore = await openLmdbStateStore({ folder: join(folder, `state-${states - 1}`), clock });
      return async () => {
        await harness.stateStore.close();
        cpSync(copy, join(folder, `state-${states}`), { recursive: true });
        harness.stateStore = await openState();
      };
    },
    async close() {
      // Closes the enrichers that a failed test left running.
      for (const enricher of started) await enricher.close();
      await eventLog.close();
      await harness.stateStore.close();
      rmSync(folder, { recursive: true });
    },
  };
  harness.stateStore = await openState();
  return harness;
}

function toSeen(record: StoredRecord): Seen {
  const line = JSON.parse(Buffer.from(record.value).toString()) as unknown[];
  const column = (name: (typeof RECORDS_COLUMNS)[number]): unknown => line[RECORDS_COLUMNS.indexOf(name)];
  expect(Number(record.headers[HEADER_RAW_OFFSET])).toBe(column('raw_offset'));
  return {
    raw: column('raw_offset') as number,
    outcome: column('outcome') as string,
    visitor: column('visitor_id') as string,
    value: column('value') as number | null,
  };
}

/**
 * A state store that passes the calls of an enricher to the present state store of the harness, even after it was replaced. `before` is
 * called before each of them.
 */
export function whateverStateThereIs(
  harness: Harness,
  before: (name: string, partition?: number) => Promise<void> = async () => {},
): StateStore {
  const to = async <T>(name: string, call: (store: StateStore) => Promise<T>, partition?: number): Promise<T> => {
    await before(name, partition);
    return call(harness.stateStore);
  };
  return {
    ...harness.stateStore,
    readEpoch: (logId, partitions) => to('readEpoch', (store) => store.readEpoch(logId, partitions)),
    checkIn: (epoch, of) => to('checkIn', (store) => store.checkIn(epoch, of), of.partition),
    endEpoch: (epoch) => to('endEpoch', (store) => store.endEpoch(epoch)),
    readState: (epoch, of, keys) => to('readState', (store) => store.readState(epoch, of, keys), of.partition),
    writeState: (epoch, of, run, changes) =>
      to('writeState', (store) => store.writeState(epoch, of, run, changes), of.partition),
    insertFirstSeen: (epoch, keys, windowMs) =>
      to('insertFirstSeen', (store) => store.insertFirstSeen(epoch, keys, windowMs)),
    overwriteFirstSeen: (epoch, keys, windowMs) =>
      to('overwriteFirstSeen', (store) => store.overwriteFirstSeen(epoch, keys, windowMs)),
  };
}

/** The outcomes that the writer would store: the first one of each raw offset. Fails if a raw offset is missing. */
export function taken(seen: readonly Seen[]): readonly Seen[] {
  const first: Seen[] = [];
  for (const outcome of seen) {
    expect(outcome.raw).toBeLessThanOrEqual(first.length);
    if (outcome.raw === first.length) first.push(outcome);
  }
  return first;
}

/** The expected outcomes of these records. Crashes and losses must not change them. */
export function expected(records: readonly TestRecord[]): readonly Seen[] {
  const counts = new Map<string, number>();
  const keys = new Set<string>();
  return records.map(({ visitor, key }, raw) => {
    if (key !== undefined && keys.has(key)) return { raw, outcome: 'duplicate', visitor, value: null };
    if (key !== undefined) keys.add(key);
    const value = counts.get(visitor) ?? 0;
    counts.set(visitor, value + 1);
    return { raw, outcome: 'row', visitor, value };
  });
}

export function someRecords(count: number, salt = 0): readonly TestRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    visitor: `v${(i * 7 + salt) % 5}`,
    receivedAt: START + i,
    ...(i % 3 === 0 ? { key: `p${salt}-k${i % 12}` } : {}),
  }));
}
