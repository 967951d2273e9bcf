import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import { createBackupMetrics } from '@weir/runtime/metrics/backup-metrics';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { assertOutsideCopies, createBackupSource } from '../backup/backup-source.ts';
import { type RunningBackups, runBackups } from '../backup/run-backups.ts';
import type { Role } from '../roles.ts';
import type { OpenAnalytics } from './open-analytics.ts';
import type { Ports } from './open-ports.ts';

export interface OpenBackupsDeps {
  readonly config: Config;
  readonly ports: Ports;
  readonly store: OpenAnalytics | undefined;
  readonly roles: readonly Role[];
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
}

/**
 * Starts the backups of the data folder, and cleans up after an interrupted backup. Resolves with undefined, and starts nothing, unless
 * this process has the control role and both the event log and ClickHouse are embedded.
 */
export async function openBackups({
  config,
  ports,
  store,
  roles,
  logger,
  clock,
  metrics,
}: OpenBackupsDeps): Promise<RunningBackups | undefined> {
  const { embeddedLog: eventLog, registry } = ports;
  const { dataDir, engines, s3 } = config;
  if (eventLog === undefined || store === undefined || engines.clickhouse !== undefined) return undefined;
  if (!roles.includes('control')) return undefined;
  const { analytics } = store;
  const source = createBackupSource({ dataDir, database: 'weir', eventLog, analytics, registry, clock, logger });
  await source.recover();
  return runBackups({
    source,
    erased: () => ({ version: 1, at: clock(), tombstones: registry.allTombstones() }),
    async openStore(url) {
      assertOutsideCopies(url, dataDir);
      // A backup contains identity secrets in plain text.
      return openObjectStore({ url, s3, folderMode: 0o700 });
    },
    schedule: config.backup,
    clock,
    logger,
    metrics: createBackupMetrics(metrics),
  });
}
