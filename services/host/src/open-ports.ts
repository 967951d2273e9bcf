import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openClickhouseAnalytics } from '@weir/adapters/clickhouse-analytics';
import { createMemoryRateLimiter } from '@weir/adapters/flexible-rate-limiter';
import { openLmdbEventLog } from '@weir/adapters/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb-state-store';
import { openLogRegistry } from '@weir/adapters/log-registry';
import { TOPIC_RAW } from '@weir/domain/topics';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config';
import type { Logger } from '@weir/runtime/logger';
import type { ProjectFiles } from './project-files.ts';

const HOUR_MS = 3_600_000;
const SALT_BYTES = 32;

/** The engines behind the ports. The one place that knows which engine stands behind which port. */
export interface Ports {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly rateLimiter: RateLimiter;
  close(): Promise<void>;
}

export interface OpenPortsOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: () => number;
}

/** Opens the log, the state store and the registry under the data folder. */
export async function openPorts({ config, logger, clock }: OpenPortsOptions): Promise<Ports> {
  const eventLog = await openLmdbEventLog({
    folder: join(config.dataDir, 'log'),
    partitions: config.partitions,
    clock,
    retentionMs: (topic) =>
      topic === TOPIC_RAW ? config.rawRetentionHours * HOUR_MS : config.enrichedRetentionDays * 24 * HOUR_MS,
  });
  const stateStore = await openLmdbStateStore({ folder: join(config.dataDir, 'state'), clock });
  const registry = await openLogRegistry({
    eventLog,
    clock,
    randomSalt: () => randomBytes(SALT_BYTES).toString('hex'),
    onDamage: (error) => logger.error({ err: error }, 'the registry passed over a row that can not be read'),
  });
  return {
    eventLog,
    stateStore,
    registry,
    rateLimiter: createMemoryRateLimiter(),
    async close() {
      await registry.close();
      await stateStore.close();
      await eventLog.close();
    },
  };
}

/** The analytics store, which may take a while to be there, or go away and come back. */
export interface OpenAnalytics {
  readonly analytics: Analytics;
  /** Resolves when it answers and its tables are up to date. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export async function openAnalytics(config: Config, files: ProjectFiles, logger: Logger): Promise<OpenAnalytics> {
  const engine = await startEmbeddedClickhouse({ dataDir: config.dataDir, entry: files.clickhouseServer, logger });
  const { url, username, password } = engine;
  const analytics = openClickhouseAnalytics({ url, username, password, migrationsDir: files.migrationsDir });
  return {
    analytics,
    ready: engine.ready().then(() => analytics.migrate()),
    async close() {
      await analytics.close();
      await engine.close();
    },
  };
}
