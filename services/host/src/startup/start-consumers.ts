import { randomBytes } from 'node:crypto';
import { startArchiver } from '@weir/archiver/archiver';
import type { ConsumerStatus } from '@weir/control/control-deps';
import { startParquetExporter } from '@weir/control/parquet/parquet-exporter';
import { startRebuild } from '@weir/control/rebuild/start-rebuild';
import { startReplayer } from '@weir/control/replay/replayer';
import { GROUP_ARCHIVER, GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { startEnricher } from '@weir/enricher/enricher';
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
  /** Resolves when all consumers of this process run. Rejects if one of them cannot start. */
  readonly started: Promise<void>;
  readonly status: () => readonly ConsumerStatus[];
  /** Why the replay does not continue. Undefined if it continues, or if another process leads it. */
  readonly replayProblem: () => string | undefined;
  close(): Promise<void>;
}

/**
 * Starts the consumers of the roles of this process: the enricher, the writer, the archiver, and for the role control the replayer and the
 * Parquet exporter. Each starts as soon as its dependencies are available.
 */
export function startConsumers(deps: ConsumersDeps): Consumers {
  const { roles, config, ports, store, disk, logger, clock, metrics, readiness } = deps;
  const stack = createStack();
  const statuses: (() => ConsumerStatus)[] = [];

  const enricher = async (): Promise<void> => {
    const geo = await deps.geo();
    const { eventLog, stateStore, registry } = ports;
    const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId, clock });
    const started = stack.add(
      await startEnricher({
        eventLog,
        stateStore,
        registry,
        enrichment,
        clock,
        logger,
        metrics,
        disk,
        limits: { rawRetentionMs: config.rawRetentionHours * HOUR_MS },
      }),
      (running) => running.close(),
    );
    readiness.while('enricher', () => started.ready());
    // A rebuild must not make the process unready: an orchestrator would replace the process, and the rebuild would start
    // again.
    readiness.note(() => started.rebuilding());
    statuses.push(() => ({ topic: TOPIC_RAW, consumer: GROUP_ENRICHER, partitions: started.status() }));
  };

  const { writerRowsMax: rowsMax, writerBytesMax: bytesMax, writerLingerMs: lingerMs } = config.batch;
  const limits = { rowsMax, bytesMax, lingerMs };
  const { eventLog } = ports;

  const writer = async ({ analytics, ready }: OpenAnalytics): Promise<void> => {
    await ready;
    const { registry: pauses } = ports;
    const started = stack.add(
      await startWriter({ eventLog, analytics, clock, logger, metrics, disk, limits, pauses }),
      (running) => running.close(),
    );
    readiness.while('writer', () => started.ready());
    statuses.push(() => ({ topic: TOPIC_ENRICHED, consumer: GROUP_WRITER, partitions: started.status() }));
  };

  const archiver = async (): Promise<void> => {
    const { archive } = config;
    if (archive === undefined || deps.archive === undefined) return;
    const started = stack.add(
      await startArchiver({
        eventLog: ports.eventLog,
        store: deps.archive,
        clock,
        logger,
        metrics,
        limits: {
          segmentBytesMax: archive.segmentBytesMax,
          lingerMs: archive.lingerMs,
          retentionMs: archive.retentionDays === undefined ? undefined : archive.retentionDays * 24 * HOUR_MS,
          upkeepMs: HOUR_MS,
        },
      }),
      (running) => running.close(),
    );
    for (const { topic, running } of started.consumers) {
      readiness.while('archiver', () => running.ready());
      statuses.push(() => ({ topic, consumer: GROUP_ARCHIVER, partitions: running.status() }));
    }
  };

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
  if (roles.includes('enricher')) begin('enricher start', enricher());
  if (store !== undefined) begin('tables', store.ready);
  if (store !== undefined && roles.includes('writer')) begin('writer start', writer(store));
  if (store !== undefined && roles.includes('control')) begin('replay start', replayer(store));
  if (store !== undefined && roles.includes('control')) begin('parquet start', parquetExporter(store));

  if (roles.includes('archiver')) begin('archiver start', archiver());

  const started = Promise.all(starting).then(() => undefined);
  // `startWeir` awaits this promise later. Until then, a rejection must not end the process as an unhandled rejection.
  started.catch(() => undefined);
  return {
    started,
    replayProblem: () => replayProblem(),
    status: () => statuses.map((status) => status()),
    async close() {
      await Promise.allSettled(starting);
      await stack.close();
    },
  };
}
