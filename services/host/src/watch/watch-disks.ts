import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@weir/runtime/config/config';
import { type DiskGuard, openDiskGuard } from '@weir/runtime/disk/disk-guard';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import type { Stack } from '../stack.ts';
import type { Readiness } from './readiness.ts';

export interface WatchDisksDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly stack: Stack;
}

/**
 * Opens the disk guard of the data folder, and a second guard if the folder `clickhouse` is on another disk. The second guard only reports
 * the free space of its disk. While that disk is full, Weir still accepts events, but the embedded ClickHouse refuses inserts.
 */
export async function watchDisks({
  config,
  logger,
  metrics,
  readiness,
  stack,
}: WatchDisksDeps): Promise<readonly [dataFolder: DiskGuard, ...others: DiskGuard[]]> {
  const { dataDir, diskReserveBytes: reserveBytes } = config;
  const shared = { reserveBytes, logger, metrics };
  const reserveFile = join(dataDir, 'disk-reserve');
  const disk = stack.add(await openDiskGuard({ ...shared, name: 'data folder', folder: dataDir, reserveFile }));
  const others: DiskGuard[] = [];
  const clickhouse = join(dataDir, 'clickhouse');
  if (existsSync(clickhouse) && statSync(clickhouse).dev !== statSync(dataDir).dev) {
    others.push(stack.add(await openDiskGuard({ ...shared, name: 'clickhouse', folder: clickhouse })));
  }
  readiness.while('disk space', () => disk.shortage() === undefined);
  return [disk, ...others];
}
