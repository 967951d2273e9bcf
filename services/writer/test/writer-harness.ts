import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from '@clickhouse/client';
import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import {
  HEADER_COLUMNS_VERSION,
  HEADER_RAW_OFFSET,
  HEADER_RECEIVED_AT,
  RECORDS_COLUMNS,
  RECORDS_COLUMNS_BY_VERSION,
  RECORDS_COLUMNS_VERSION,
  type RecordsColumn,
} from '@weir/domain/records/records-columns';
import { GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { Analytics } from '@weir/ports/analytics';
import type { Commit, EventLog } from '@weir/ports/event-log';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { useOpened, useOpenedInEachTest } from '@weir/testkit/use-opened';
import { startWriter, type Writer, type WriterDeps } from '../src/writer.ts';

const ROOT = resolve(__dirname, '../../..');
const MIGRATIONS = join(ROOT, 'schemas/clickhouse');
const SHADOW = 'weir_shadow';

export const JUNE = Date.UTC(2026, 5, 15, 12);
export const JULY = Date.UTC(2026, 6, 1);

export interface Engine {
  readonly analytics: Analytics;
  /**
   * Exchanges the tables for a second set that has the same rows of this log but other tokens, as a replay does. Resolves with the
   * number of the new generation. Call it at most once per log.
   */
  swap(logId: string): Promise<number>;
  close(): Promise<void>;
}

async function openEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-writer-'));
  const clickhouse = await startEmbeddedClickhouse({
    dataDir: folder,
    entry: join(ROOT, 'packages/embedded-clickhouse/src/clickhouse-server.ts'),
    logger: createLogger('silent'),
  });
  await clickhouse.ready();
  const { url, username, password } = clickhouse;
  const analytics = openClickhouseAnalytics({
    url,
    username,
    password,
    migrationsDir: MIGRATIONS,
  });
  await analytics.migrate().catch(async (error: unknown) => {
    await clickhouse.close();
    throw error;
  });
  const shadow = openClickhouseAnalytics({ url, username, password, database: SHADOW, migrationsDir: MIGRATIONS });
  const server = createClient({ url, username, password });
  return {
    analytics,
    async swap(logId) {
      await shadow.migrate();
      const columns = RECORDS_COLUMNS.join(', ');
      await server.command({
        query: `INSERT INTO ${SHADOW}.records (${columns}) SELECT ${columns} FROM weir.records WHERE log_id = {logId:String}`,
        query_params: { logId },
      });
      const generation = (await analytics.generation()) + 1;
      await analytics.exchangeWith(SHADOW, generation);
      return generation;
    },
    async close() {
      await Promise.all([analytics.close(), shadow.close(), server.close()]);
      await clickhouse.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export interface StoredOutcome {
  readonly raw: number;
  readonly outcome: string;
  readonly reason: string;
  readonly copies: number;
}

export interface Harness {
  readonly eventLog: EventLog;
  /**
   * Appends outcomes of these raw offsets, and adds raw records up to the highest one. Outcomes in `bad` have a value that
   * ClickHouse refuses.
   */
  put(
    raws: readonly number[],
    options?: { receivedAt?: number; bad?: readonly number[]; version?: number },
  ): Promise<void>;
  start(
    ports?: Partial<Pick<WriterDeps, 'eventLog' | 'analytics' | 'clock' | 'monotonicMs' | 'metrics' | 'pauses'>>,
    rowsMax?: number,
  ): Promise<Writer>;
  /** Resolves when the writer has committed the end of partition 0 of `events.enriched`. */
  caughtUp(): Promise<void>;
  stored(): Promise<readonly StoredOutcome[]>;
  close(): Promise<void>;
}

interface HarnessOptions {
  /**
   * For how long an insert with an unknown result may still add rows. It can be 0 if the test makes each insert end before the writer gets the
   * error.
   */
  readonly unknownSettlesMs?: number;
  readonly pausedAlarmMs?: number;
  readonly partitions?: number;
}

/** Opens the tables for all tests of a file. */
export const useEngine = (): Engine => useOpened(openEngine, { openMs: 120_000 });

/** Opens the tables for all tests of a file, and a log for each test. */
export function useHarness(options: HarnessOptions = {}): { readonly engine: Engine; readonly harness: Harness } {
  const engine = useEngine();
  return { engine, harness: useOpenedInEachTest(() => openHarness(engine, options)) };
}

export async function openHarness(
  { analytics }: Engine,
  { unknownSettlesMs, pausedAlarmMs, partitions = 1 }: HarnessOptions = {},
): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-writer-log-'));
  const eventLog = await openLmdbEventLog({
    folder,
    partitions,
    clock: Date.now,
    retentionMs: () => Number.POSITIVE_INFINITY,
  });
  let rawEnd = 0;
  return {
    eventLog,
    async put(raws, { receivedAt = JUNE, bad = [], version = RECORDS_COLUMNS_VERSION } = {}) {
      const missing = Math.max(0, Math.max(-1, ...raws) + 1 - rawEnd);
      rawEnd += missing;
      await eventLog.append(
        TOPIC_RAW,
        range(0, missing).map(() => ({ partition: 0, value: new Uint8Array(0) })),
      );
      await eventLog.append(
        TOPIC_ENRICHED,
        raws.map((raw) => ({
          partition: 0,
          value: line(eventLog.logId, raw, receivedAt, bad.includes(raw), version),
          headers: {
            [HEADER_RAW_OFFSET]: String(raw),
            [HEADER_COLUMNS_VERSION]: String(version),
            [HEADER_RECEIVED_AT]: String(receivedAt),
          },
        })),
      );
    },
    start: (ports, rowsMax = 10) =>
      startWriter({
        eventLog,
        analytics,
        clock: Date.now,
        logger: createLogger('silent'),
        metrics: createMetrics(),
        pauses: undefined,
        limits: {
          rowsMax,
          bytesMax: 1024 * 1024,
          lingerMs: 5,
          ...(unknownSettlesMs === undefined ? {} : { unknownSettlesMs }),
          ...(pausedAlarmMs === undefined ? {} : { pausedAlarmMs }),
        },
        ...ports,
      }),
    async caughtUp() {
      await eventually('the writer has caught up', async () => {
        const [position] = await eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
        return position?.committed === position?.end;
      });
    },
    stored: () =>
      analytics.select<StoredOutcome>(
        `SELECT toUInt32(raw_offset) AS raw, any(outcome) AS outcome, any(reason) AS reason, toUInt32(count()) AS copies
         FROM records WHERE log_id = {logId:String} GROUP BY raw_offset ORDER BY raw_offset`,
        { logId: eventLog.logId },
      ),
    async close() {
      await eventLog.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function line(logId: string, raw: number, receivedAt: number, bad: boolean, version: number): Buffer {
  const given: Partial<Record<RecordsColumn, unknown>> = {
    outcome: 'row',
    site_id: 'site-1',
    event_id: `e-${raw}`,
    timestamp: receivedAt,
    received_at: receivedAt,
    visitor_id: `v${raw % 3}`,
    screen_width: bad ? 'wide' : 1024,
    log_id: logId,
    raw_partition: 0,
    raw_offset: raw,
  };
  const columns = (RECORDS_COLUMNS_BY_VERSION[version] ?? RECORDS_COLUMNS) as readonly RecordsColumn[];
  return Buffer.from(`${JSON.stringify(columns.map((column) => given[column] ?? null))}\n`);
}

export function range(from: number, end: number): readonly number[] {
  return Array.from({ length: end - from }, (_, i) => from + i);
}

/** The expected content: each of the raw offsets 0 to end - 1 once, as a row. */
export function rows(end: number): readonly StoredOutcome[] {
  return range(0, end).map((raw) => ({ raw, outcome: 'row', reason: '', copies: 1 }));
}

/** Commits partition 0 of `events.enriched` in the place of the writer, which must not run. */
export async function commitByHand(eventLog: EventLog, commit: Commit): Promise<void> {
  const subscription = await eventLog.consume({
    topic: TOPIC_ENRICHED,
    group: GROUP_WRITER,
    async open(handle) {
      await handle.commit(commit);
      return { handle: async () => {}, close: async () => {} };
    },
    onError(error) {
      throw error;
    },
  });
  await eventually(
    'committed',
    async () => (await eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER))[0]?.committed === commit.offset,
  );
  await subscription.close();
}
