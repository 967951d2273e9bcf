import { join } from 'node:path';
import { type ClickhouseAnalytics, openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { type ClickhouseShadow, openClickhouseShadow } from '@weir/adapters/clickhouse/clickhouse-shadow';
import { type LogOwner, openThreadLog, type ThreadLog } from '@weir/adapters/lmdb/thread/lmdb-thread-log';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Stack } from '../stack.ts';
import type { ClickhouseConnection } from './open-analytics.ts';
import { openOwnState } from './open-own-state.ts';
import { openRegistryOf } from './open-registry.ts';

export type { LogOwner, ThreadLog };

/** The engines of the pipeline thread. The main thread writes the event log; this thread writes the state of the enricher. */
export interface ThreadPorts {
  readonly eventLog: EventLog;
  readonly registry: Registry;
  readonly stateStore: StateStore;
  /** Undefined if no role of the thread writes to ClickHouse. */
  readonly tables: ThreadTables | undefined;
}

export interface ThreadTables {
  readonly analytics: ClickhouseAnalytics;
  readonly shadow: ClickhouseShadow;
}

export interface OpenThreadPortsDeps {
  readonly config: Config;
  readonly log: ThreadLog;
  readonly clickhouse: ClickhouseConnection | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly disk: DiskSpace;
  readonly stack: Stack;
}

export function openLogOfThread(config: Config, owner: LogOwner): ThreadLog {
  return openThreadLog(join(config.dataDir, 'log'), owner);
}

export async function openThreadPorts(deps: OpenThreadPortsDeps): Promise<ThreadPorts> {
  const { config, log, clickhouse, logger, clock, disk, stack } = deps;
  stack.add(log);
  const registry = stack.add(await openRegistryOf(log, { clock, logger }));
  const stateStore = stack.add(await openOwnState({ config, clock, disk }, log));
  if (clickhouse === undefined) return { eventLog: log, registry, stateStore, tables: undefined };
  const analytics = stack.add(openClickhouseAnalytics(clickhouse));
  const shadow = stack.add(openClickhouseShadow(clickhouse, analytics));
  return { eventLog: log, registry, stateStore, tables: { analytics, shadow } };
}
