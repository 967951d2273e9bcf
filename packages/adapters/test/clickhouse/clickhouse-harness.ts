import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RECORDS_COLUMNS, type RecordsColumn } from '@weir/domain/records/records-columns';
import { type EmbeddedClickhouse, startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { RecordsBatch } from '@weir/ports/analytics';
import { type ClickhouseServer, dockerAnswers, startClickhouseContainer } from '@weir/testkit/live-docker';
import { type HookLimits, useOpened } from '@weir/testkit/use-opened';
import { type ClickhouseAnalytics, openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';

const ROOT = join(__dirname, '../../../..');
const EMPTY: Readonly<Record<string, unknown>> = {
  outcome: 'row',
  cookieless: false,
  value: null,
  properties: {},
  screen_width: 0,
  screen_height: 0,
  visit_stamp: 0,
  visit_started: 0,
  visit_new: 0,
  visit_bounces: 0,
  visit_seconds: 0,
  raw_partition: 0,
  log_id: 'log-1',
  site_id: 'site-1',
  source: 'collect',
  type: 'pageview',
};
export const T0 = Date.UTC(2026, 4, 1);

export type RowFields = Partial<Readonly<Record<RecordsColumn, unknown>>>;

export interface ClickhouseUnderTest<Engine = ClickhouseServer> {
  readonly clickhouse: Engine;
  readonly analytics: ClickhouseAnalytics;
  close(): Promise<void>;
}

/** Opens a ClickHouse server if Docker is available, otherwise the embedded engine. */
export async function openClickhouseUnderTest(): Promise<ClickhouseUnderTest> {
  return dockerAnswers() ? under(await startClickhouseContainer()) : openEmbeddedUnderTest();
}

/** Opens ClickHouse with all tables for the tests of a file or `describe` block. */
export function useClickhouse(limits: HookLimits = {}): ClickhouseUnderTest {
  return useOpened(async () => {
    const opened = await openClickhouseUnderTest();
    try {
      await opened.analytics.migrate();
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  }, limits);
}

/** Opens the embedded engine. `memoryBytes`: the memory that all statements and merges may use together. */
export async function openEmbeddedUnderTest(memoryBytes?: number): Promise<ClickhouseUnderTest<EmbeddedClickhouse>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-clickhouse-'));
  const opened = await openEmbeddedOn(dataDir, undefined, memoryBytes);
  return {
    ...opened,
    async close() {
      await opened.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** Opens the embedded engine on a data folder. `beforeStart` is called before each start of the engine, also after it was killed. */
export async function openEmbeddedOn(
  dataDir: string,
  beforeStart = () => {},
  memoryBytes?: number,
): Promise<ClickhouseUnderTest<EmbeddedClickhouse>> {
  const clickhouse = await startEmbeddedClickhouse({
    dataDir,
    entry: join(ROOT, 'packages/embedded-clickhouse/src/clickhouse-server.ts'),
    logger: { info: () => undefined, warn: () => undefined },
    beforeStart,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  });
  await clickhouse.ready();
  return under(clickhouse);
}

function under<Engine extends ClickhouseServer>(clickhouse: Engine): ClickhouseUnderTest<Engine> {
  const analytics = openClickhouseAnalytics({ ...clickhouse, migrationsDir: join(ROOT, 'schemas/clickhouse') });
  return {
    clickhouse,
    analytics,
    async close() {
      await analytics.close();
      await clickhouse.close();
    },
  };
}

/**
 * Makes a batch whose rows have the raw offsets (docs/glossary.md) from `from` on. Rows without an event_id or times get values that depend on their
 * raw offset.
 */
export function batch(
  from: number,
  rows: readonly RowFields[],
  columns: readonly string[] = RECORDS_COLUMNS,
): RecordsBatch {
  const lines = rows.map((row, index) => {
    const offset = from + index;
    const defaults = {
      event_id: `e-${String(offset).padStart(8, '0')}`,
      timestamp: T0 + offset,
      received_at: T0 + offset,
    };
    const full: Readonly<Record<string, unknown>> = { ...EMPTY, ...defaults, raw_offset: offset, ...row };
    return Buffer.from(`${JSON.stringify(columns.map((column) => (column in full ? full[column] : '')))}\n`);
  });
  return {
    columns,
    lines,
    token: `records:log-1:0:${from}-${from + rows.length - 1}:1`,
    generation: undefined,
  };
}

/** Returns a function that inserts rows of a partition, one for each raw offset. */
export function createInsert(opened: Pick<ClickhouseUnderTest, 'analytics'>) {
  return async (partition: number, offsets: readonly number[], fields: RowFields = {}): Promise<void> => {
    const rows = offsets.map((offset) => ({ raw_partition: partition, raw_offset: offset, ...fields }));
    const token = `${partition} ${offsets.join()} ${JSON.stringify(fields)}`;
    await opened.analytics.insertRecords({ ...batch(0, rows), token });
  };
}

export function identify(detail: Readonly<Record<string, unknown>>, row: RowFields = {}): RowFields {
  return { outcome: 'identify', type: '', detail: JSON.stringify(detail), ...row };
}

/** Makes a batch of five rows with the raw offsets from `from` on. It adds at least one row to every table that inserts fill. */
export function everyKind(from: number): RecordsBatch {
  const visit = { session_id: 's_0', visitor_id: 'v' };
  const person = {
    profile_id: 'p',
    user_id: 'u',
    email: 'a@b.example',
    traits: { plan: 'pro' },
    payment_customer_id: 'c',
  };
  return batch(from, [
    visit,
    { ...visit, detail: '{"session_moved":true}', visit_stamp: 2 },
    { source: 'server', type: 'event', event_name: 'paid', value: 5, value_text: '5', properties: { currency: 'EUR' } },
    identify(person, { visitor_id: 'v' }),
    { outcome: 'dead', detail: '{"topic":"events.raw","partition":0,"offset":4,"stage":"enricher"}' },
  ]);
}

/**
 * Returns a count for each table. Tests compare the counts to show that a repeated insert changes nothing. The count is the number of rows. For
 * the tables in `counts`, the count is the expression there, because the number of their rows can change while their content stays the same.
 */
export async function tableCounts(analytics: ClickhouseAnalytics): Promise<Readonly<Record<string, unknown>>> {
  const tables = await analytics.select<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'",
  );
  const counts: Record<string, string> = {
    books_sums: 'sum(books_sums.records)',
    late_rows: 'sum(late_rows.rows)',
    // Migrations 008, 018 and 020 changed the queries of the views that fill these tables. After a restart, ClickHouse stores the rows of
    // a repeated insert in these tables once more. The content stays the same: the columns are minima and maxima, or the rows are a set.
    profiles_latest: 'uniqExact(site_id, profile_id, first_seen_at, last_seen_at)',
    moved_hours: 'uniqExact(site_id, visitor_id, hour)',
    visits_computed: 'uniqExact(site_id, day, session_id)',
  };
  const found: Record<string, unknown> = {};
  for (const { name } of tables) {
    const [row] = await analytics.select<{ n: unknown }>(
      `SELECT toUInt32(${counts[name] ?? 'count()'}) AS n FROM ${name}`,
    );
    found[name] = row?.n;
  }
  return found;
}
