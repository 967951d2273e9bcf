import { randomBytes } from 'node:crypto';
import { startParquetExporter } from '@weir/control/parquet/parquet-exporter';
import { startRebuild } from '@weir/control/rebuild/start-rebuild';
import { startReplayer } from '@weir/control/replay/replayer';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import { startReplayEnricher } from '@weir/enricher/replay/start-replay-enricher';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { nextSwap, pauseWriters, resumeWriters } from '@weir/writer/pause/pause-writers';
import { startWriter } from '@weir/writer/writer';
import type { OpenAnalytics } from '../ports/open-analytics.ts';
import type { Ports } from '../ports/open-ports.ts';
import { replayStateStores } from '../ports/open-replay-state.ts';
import type { SharedGeo } from '../ports/shared-geo.ts';
import type { Role } from '../roles.ts';
import { createStack } from '../stack.ts';
import type { Readiness } from '../watch/readiness.ts';
import { writerLimits } from './start-pipeline.ts';

const HOUR_MS = 3_600_000;

export function enrichedRetentionMs({ enrichedRetentionDays }: Config): number {
  return enrichedRetentionDays * 24 * HOUR_MS;
}

export interface ConsumersDeps {
  readonly roles: readonly Role[];
  readonly config: Config;
  readonly ports: Ports;
  readonly store: OpenAnalytics | undefined;
  readonly disk: DiskSpace | undefined;
  /** Undefined if Weir does not archive. */
  readonly archive: ObjectStore | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly geo: SharedGeo;
}

export interface Consumers {
  /** Resolves when all of them run. Rejects if one of them cannot start. */
  readonly started: Promise<void>;
  /** Why the replay does not continue. Undefined if it continues, or if another process leads it. */
  readonly replayProblem: () => string | undefined;
  close(): Promise<void>;
}

/** Starts what the role control does besides its API: the replayer, the rebuild and the Parquet exporter. Each starts as soon as ClickHouse is available. */
export function startConsumers(deps: ConsumersDeps): Consumers {
  const { roles, config, ports, store, disk, logger, clock, metrics, readiness } = deps;
  const stack = createStack();
  const { eventLog } = ports;
  const limits = writerLimits(config);

  let replayProblem = (): string | undefined => undefined;
  const replayer = async ({ analytics, shadow, ready }: OpenAnalytics): Promise<void> => {
    await ready;
    const { registry } = ports;
    const pausing = { eventLog, registry, clock };
    const states = replayStateStores({ config, logger, clock, disk, stack });
    const started = stack.add(
      startReplayer({
        ...{ eventLog, registry, analytics, shadow, clock, logger, disk, archive: deps.archive },
        retentionMs: enrichedRetentionMs(config),
        liveWriters: {
          nextSwap: () => nextSwap(pausing),
          pause: (swap, signal) => pauseWriters(pausing, swap, { signal }),
          resume: () => resumeWriters(pausing),
        },
        startReplayWriter: ({ eventLog: log, analytics: tables, ...replay }) =>
          startWriter({
            eventLog: log,
            analytics: tables,
            clock,
            logger,
            metrics,
            disk,
            replay,
            limits,
            pauses: undefined,
          }),
        raw: {
          retentionMs: config.rawRetentionHours * HOUR_MS,
          removeState: states.remove,
          startEnricher: async ({ eventLog: log, firstRawOffset }) => {
            const geo = await deps.geo();
            const stateStore = await states.open();
            const enricher = await startReplayEnricher({
              eventLog: log,
              answeredIn: eventLog,
              enrichment: createEnrichment({ registry, geo, logId: log.logId, clock }),
              ...{ stateStore, registry, analytics, firstRawOffset, clock, logger, metrics, disk },
            }).catch(async (error: unknown) => {
              await stateStore.close();
              throw error;
            });
            return {
              ...enricher,
              async close() {
                await enricher.close();
                await stateStore.close();
              },
            };
          },
        },
      }),
      (running) => running.close(),
    );
    replayProblem = started.problem;
    stack.add(startRebuild({ registry, shadow, clock, randomBytes, keep: config.keep, logger }), (running) =>
      running.close(),
    );
  };

  const parquetExporter = async ({ analytics, ready }: OpenAnalytics): Promise<void> => {
    const { archive: objects } = deps;
    if (objects === undefined || config.archive?.parquet !== true) return;
    await ready;
    const { retentionDays } = config.archive;
    const retentionMs = retentionDays === undefined ? undefined : retentionDays * 24 * HOUR_MS;
    const { registry } = ports;
    stack.add(
      await startParquetExporter({ eventLog, store: objects, analytics, registry, clock, logger, retentionMs }),
      (running) => running.close(),
    );
  };

  const starting: Promise<void>[] = [];
  const begin = (name: string, work: Promise<void>): void => {
    readiness.until(name, work);
    starting.push(work);
  };
  if (store !== undefined) begin('tables', store.ready);
  if (store !== undefined && roles.includes('control')) begin('replay start', replayer(store));
  if (store !== undefined && roles.includes('control')) begin('parquet start', parquetExporter(store));

  const started = Promise.all(starting).then(() => undefined);
  // `startWeir` awaits this promise later. Until then, a rejection must not end the process as an unhandled rejection.
  started.catch(() => undefined);
  return {
    started,
    replayProblem: () => replayProblem(),
    async close() {
      await Promise.allSettled(starting);
      await stack.close();
    },
  };
}
