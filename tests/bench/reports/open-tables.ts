import { type ClickhouseAnalytics, openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { type EmbeddedClickhouse, startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { createLogger } from '@weir/runtime/logger';

export interface TablesTask {
  /** The data folder of a Weir that does not run. */
  readonly folder: string;
  readonly clickhouseEntry: string;
  readonly migrationsDir: string;
}

export interface OpenTables {
  readonly engine: EmbeddedClickhouse;
  readonly analytics: ClickhouseAnalytics;
  close(): Promise<void>;
}

/** Starts an embedded ClickHouse with a data folder, and creates its tables if they do not exist. */
export async function openTables({ folder, clickhouseEntry, migrationsDir }: TablesTask): Promise<OpenTables> {
  const engine = await startEmbeddedClickhouse({
    dataDir: folder,
    entry: clickhouseEntry,
    logger: createLogger('error'),
  });
  await engine.ready();
  const { url, username, password } = engine;
  const analytics = openClickhouseAnalytics({ url, username, password, migrationsDir });
  await analytics.migrate();
  return {
    engine,
    analytics,
    async close() {
      await analytics.close();
      await engine.close();
    },
  };
}
