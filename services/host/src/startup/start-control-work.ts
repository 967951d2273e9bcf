import { randomBytes, randomUUID } from 'node:crypto';
import { startAuditChecks } from '@weir/control/audit/audit-checks';
import { untilRestoredErasuresEnd } from '@weir/control/backups/restored-erasures';
import { startErasures } from '@weir/control/erasure/start-erasures';
import { type ImportElection, startImportElection } from '@weir/control/imports/import-election';
import { type ImportTerm, SOLE_TERM } from '@weir/control/imports/import-term';
import { type ParquetExporter, startParquetExporter } from '@weir/control/parquet/parquet-exporter';
import { startRebuild } from '@weir/control/rebuild/start-rebuild';
import { startRetention } from '@weir/control/retention/start-retention';
import { startSlotBuilds } from '@weir/control/visit-slots/start-slot-builds';
import { startVisitChecks } from '@weir/control/visits/start-visit-checks';
import type { ObjectStore } from '@weir/ports/object-store';
import { awaitedLater } from '@weir/runtime/abortable';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import { createErasureMetrics, createRetentionMetrics } from '@weir/runtime/metrics/control-metrics';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import type { RunningBackups } from '../backup/run-backups.ts';
import type { OpenAnalytics } from '../ports/open-analytics.ts';
import type { Ports } from '../ports/open-ports.ts';
import type { Role } from '../roles.ts';
import { createStack, type Stack } from '../stack.ts';
import type { Readiness } from '../watch/readiness.ts';

export interface ControlWorkDeps {
  readonly roles: readonly Role[];
  readonly config: Config;
  readonly ports: Ports;
  readonly store: OpenAnalytics | undefined;
  /** Undefined if Weir does not archive. */
  readonly archive: ObjectStore | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
}

export interface ControlWork {
  /** Resolves when everything that `startControlWork` starts is running. Rejects if something cannot start. */
  readonly started: Promise<void>;
  /** Resolves with undefined if another process accepts imports. `signal` ends the waiting for the election. */
  importTerm(signal: AbortSignal): Promise<ImportTerm | undefined>;
  /** Why the export of Parquet files fails or waits. Undefined if it does neither, or if another process exports. */
  parquetProblem(): string | undefined;
  close(): Promise<void>;
}

/**
 * Starts the background work of the role control that needs no backups. When the tables are up to date, starts the rebuild of the tables after
 * migrations (docs/decisions/0038), and the Parquet exporter if it is configured. With Kafka, several processes can have this role: starts the
 * election of the process that accepts imports.
 */
export function startControlWork(deps: ControlWorkDeps): ControlWork {
  const { roles, config, ports, store, logger, clock, metrics, readiness } = deps;
  const stack = createStack();

  const rebuild = async ({ shadow, ready }: OpenAnalytics): Promise<void> => {
    await ready;
    stack.add(startRebuild({ registry: ports.registry, shadow, clock, randomBytes, keep: config.keep, logger }));
  };

  let exporter: ParquetExporter | undefined;
  const parquetExporter = async ({ analytics, ready }: OpenAnalytics): Promise<void> => {
    const { archive: objects } = deps;
    if (objects === undefined || config.archive?.parquet !== true) return;
    await ready;
    const { retentionMs } = config.archive;
    const { eventLog, registry } = ports;
    const exporting = { eventLog, store: objects, analytics, registry, clock, logger, metrics, retentionMs };
    exporter = stack.add(await startParquetExporter(exporting));
  };

  let election: Promise<ImportElection> | undefined;
  const isAlone = config.engines.kafka === undefined;
  const importElection = async (): Promise<ImportElection> => {
    const onError = (error: unknown): void =>
      logger.warn({ err: error }, 'imports: retrying to take part in the election');
    return stack.add(await startImportElection({ eventLog: ports.eventLog, clock, onError }));
  };

  const starting: Promise<unknown>[] = [];
  const begin = (name: string, work: Promise<unknown>): void => {
    readiness.until(name, work);
    starting.push(work);
  };
  if (store !== undefined) begin('tables', store.ready);
  if (store !== undefined && roles.includes('control')) begin('rebuild start', rebuild(store));
  if (store !== undefined && roles.includes('control')) begin('parquet start', parquetExporter(store));

  if (!isAlone && roles.includes('control')) {
    election = importElection();
    begin('import election start', election);
  }

  return {
    started: awaitedLater(Promise.all(starting).then(() => undefined)),
    importTerm: async (signal) => (isAlone ? SOLE_TERM : (await election)?.term(signal)),
    parquetProblem: () => exporter?.problem(),
    async close() {
      await Promise.allSettled(starting);
      await stack.close();
    },
  };
}

export interface WorkAfterBackupsDeps extends ControlWorkDeps {
  /** Undefined if this process can make no backups. */
  readonly backups: RunningBackups | undefined;
  /** The work is registered here, so that it is closed before the backups. */
  readonly stack: Stack;
  /** When it aborts, the wait for restored erasures ends. */
  readonly stop: AbortSignal;
}

/**
 * Starts the background work of the role control that comes after `openBackups`: an erasure also publishes its tombstones at the place of the
 * backups. Resolves when the persons whose records a restored backup brought back are erased again.
 */
export async function startWorkAfterBackups(deps: WorkAfterBackupsDeps): Promise<void> {
  const { roles, config, ports, store, archive, logger, clock, metrics, backups, stack, stop } = deps;
  if (store === undefined || !roles.includes('control')) return;
  const { analytics, ready, detachedUntil } = store;
  const alone = config.engines.kafka === undefined;
  const working = { ...ports, analytics, archive, ready, alone, workerId: randomUUID(), clock, logger };
  const publish = backups === undefined ? undefined : () => backups.publishErasures();
  const erasing = { detachedUntil, topics: config, publish, metrics: createErasureMetrics(metrics) };
  stack.add(startErasures({ ...working, ...erasing }));
  const retention = { keep: config.keep, metrics: createRetentionMetrics(metrics, clock()) };
  stack.add(startRetention({ ...working, workerId: randomUUID(), ...retention }));
  stack.add(startVisitChecks({ ...working, metrics }));
  stack.add(startSlotBuilds({ ...working, metrics }));
  stack.add(startAuditChecks({ ...working, metrics }));
  await untilRestoredErasuresEnd(ports.registry, logger, stop);
}
