import { setTimeout as pause } from 'node:timers/promises';
import {
  type ClickhouseAnalytics,
  type ClickhouseAnalyticsConfig,
  openClickhouseAnalytics,
} from '@weir/adapters/clickhouse/clickhouse-analytics';
import { type ClickhouseShadow, openClickhouseShadow } from '@weir/adapters/clickhouse/clickhouse-shadow';
import { isDependencyError } from '@weir/domain/errors';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { Analytics } from '@weir/ports/analytics';
import { abortable, awaitedLater } from '@weir/runtime/abortable';
import type { Config } from '@weir/runtime/config/config';
import type { DiskGuard } from '@weir/runtime/disk/disk-guard';
import type { Logger } from '@weir/runtime/logger';
import type { Stack } from '../stack.ts';
import type { ProjectFiles } from './project-files.ts';

const RETRY_EVERY_MS = 500;

/** The analytics store. It may be unavailable when the process starts, and also later for some time. */
export interface OpenAnalytics {
  readonly analytics: ClickhouseAnalytics;
  readonly shadow: ClickhouseShadow;
  /** The settings with which another thread of this process opens the same tables. */
  readonly connection: ClickhouseConnection;
  /**
   * After a kill or a power loss, Weir repairs the tables of the embedded ClickHouse. The repair can move parts of tables into another folder, and
   * ClickHouse moves damaged parts there. Returns when the last of these parts will be removed, in Unix milliseconds. Undefined if there are no such
   * parts, and if ClickHouse is not embedded. See `EmbeddedClickhouse` in start-embedded-clickhouse.ts.
   */
  readonly detachedUntil: () => number | undefined;
  /** Resolves when ClickHouse answers and its tables are up to date. Rejects if it cannot start or refuses the migrations. */
  readonly ready: Promise<void>;
}

export type ClickhouseConnection = Omit<ClickhouseAnalyticsConfig, 'onMigration'>;

export interface OpenAnalyticsDeps {
  readonly config: Config;
  readonly files: ProjectFiles;
  readonly logger: Logger;
  readonly disk: Pick<DiskGuard, 'release' | 'reserveBytes'> | undefined;
  readonly stack: Stack;
  /** When it aborts, the wait for ClickHouse ends, and `ready` rejects with the reason of this signal. */
  readonly stop: AbortSignal;
}

export async function openAnalytics(deps: OpenAnalyticsDeps): Promise<OpenAnalytics> {
  const { config, files, logger, disk, stack, stop } = deps;
  const { clickhouse } = config.engines;
  const { migrationsDir } = files;
  if (clickhouse !== undefined) {
    const { writer, reader, database, cluster } = clickhouse;
    const opened = open({ ...writer, reader, database, cluster, migrationsDir }, deps);
    const migrated = migrateWhenAvailable(opened.analytics, async () => undefined, logger, stop);
    return { ...opened, detachedUntil: () => undefined, ready: awaitedLater(abortable(migrated, stop)) };
  }
  const { dataDir, diskReserveBytes, clickhouseMemoryBytes: memoryBytes } = config;
  const reserveBytes = disk?.reserveBytes ?? diskReserveBytes;
  const entry = files.clickhouseServer;
  const beforeStart = () => disk?.release();
  const engine = await startEmbeddedClickhouse({
    ...{ dataDir, reserveBytes, entry, beforeStart, logger },
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  });
  stack.add(engine);
  const { url, username, password } = engine;
  const opened = open({ url, username, password, migrationsDir }, deps);
  const migrated = migrateWhenAvailable(opened.analytics, () => engine.ready(), logger, stop);
  const { detachedUntil } = engine;
  return { ...opened, detachedUntil, ready: awaitedLater(abortable(migrated, stop)) };
}

function open(
  connection: ClickhouseConnection,
  { logger, stack }: Pick<OpenAnalyticsDeps, 'logger' | 'stack'>,
): Omit<OpenAnalytics, 'ready' | 'detachedUntil'> {
  const onMigration = (step: object) => logger.info(step, 'migrating the tables');
  // `connection` must not contain a function: it is sent to a thread.
  const analytics = stack.add(openClickhouseAnalytics({ ...connection, onMigration }));
  return { connection, analytics, shadow: stack.add(openClickhouseShadow(connection, analytics)) };
}

/**
 * Migrates the tables. Retries while ClickHouse is unavailable, even after its embedded process has died. Rejects if ClickHouse refuses
 * the migrations or if `available` rejects: both need an operator.
 */
async function migrateWhenAvailable(
  analytics: Analytics,
  available: () => Promise<void>,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  let logged = false;
  for (;;) {
    await available();
    try {
      return await analytics.migrate();
    } catch (error) {
      if (!isDependencyError(error, 'analytics_unavailable')) throw error;
      if (!logged) logger.warn({ code: error.code, reason: error.message }, 'waiting for ClickHouse');
      logged = true;
      await pause(RETRY_EVERY_MS, undefined, { signal: stop });
    }
  }
}
