import { startArchiver } from '@weir/archiver/archiver';
import type { ConsumerStatus } from '@weir/control/control-deps';
import { GROUP_ARCHIVER, GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { startEnricher } from '@weir/enricher/enricher';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import type { Analytics } from '@weir/ports/analytics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { ObjectStore } from '@weir/ports/object-store';
import { awaitedLater } from '@weir/runtime/abortable';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { startWriter } from '@weir/writer/writer';
import type { Ports } from '../ports/open-ports.ts';
import type { SharedGeo } from '../ports/shared-geo.ts';
import type { Role } from '../roles.ts';
import { createStack } from '../stack.ts';
import type { Readiness } from '../watch/readiness.ts';

const ARCHIVE_UPKEEP_MS = 3_600_000;

export interface PipelineDeps {
  readonly roles: readonly Role[];
  readonly config: Config;
  readonly ports: Pick<Ports, 'eventLog' | 'stateStore' | 'registry'>;
  readonly store: WriterStore | undefined;
  readonly disk: DiskSpace | undefined;
  /** Undefined if Weir does not archive. */
  readonly archive: ObjectStore | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly geo: SharedGeo;
}

/** The store of the rows. `ready` resolves when its tables are up to date. */
interface WriterStore {
  readonly analytics: Analytics;
  readonly ready: Promise<void>;
}

export interface Pipeline {
  /** Resolves when all consumers run. Rejects if one of them cannot start. */
  readonly started: Promise<void>;
  readonly status: () => readonly ConsumerStatus[];
  close(): Promise<void>;
}

export function writerLimits({ batch }: Config) {
  const { writerRowsMax: rowsMax, writerBytesMax: bytesMax, writerLingerMs: lingerMs } = batch;
  return { rowsMax, bytesMax, lingerMs };
}

/** Starts the enricher, the writer and the archiver, as far as they are in `roles`. Each starts as soon as its dependencies are available. */
export function startPipeline(deps: PipelineDeps): Pipeline {
  const { roles, config, ports, store, disk, logger, clock, metrics, readiness } = deps;
  const { eventLog, registry } = ports;
  const stack = createStack();
  const statuses: (() => ConsumerStatus)[] = [];

  const enricher = async (): Promise<void> => {
    const geo = await deps.geo();
    const { stateStore } = ports;
    const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId });
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
        limits: { rawRetentionMs: config.rawRetentionMs },
      }),
    );
    readiness.while('enricher', () => started.ready());
    // The process stays ready while the enricher rebuilds its state. Otherwise an orchestrator would replace the process, which would delay the
    // rebuild.
    readiness.note(() => started.rebuilding());
    statuses.push(() => ({ topic: TOPIC_RAW, consumer: GROUP_ENRICHER, partitions: started.status() }));
  };

  const writer = async ({ analytics, ready }: WriterStore): Promise<void> => {
    await ready;
    const started = stack.add(
      await startWriter({
        eventLog,
        analytics,
        clock,
        logger,
        metrics,
        disk,
        limits: writerLimits(config),
        pauses: registry,
      }),
    );
    readiness.while('writer', () => started.ready());
    statuses.push(() => ({ topic: TOPIC_ENRICHED, consumer: GROUP_WRITER, partitions: started.status() }));
  };

  const archiver = async (): Promise<void> => {
    const { archive } = config;
    if (archive === undefined || deps.archive === undefined) return;
    const started = stack.add(
      await startArchiver({
        eventLog,
        store: deps.archive,
        clock,
        logger,
        metrics,
        limits: {
          segmentBytesMax: archive.segmentBytesMax,
          lingerMs: archive.lingerMs,
          retentionMs: archive.retentionMs,
          upkeepMs: ARCHIVE_UPKEEP_MS,
        },
      }),
    );
    for (const { topic, running } of started.consumers) {
      readiness.while('archiver', () => running.ready());
      statuses.push(() => ({ topic, consumer: GROUP_ARCHIVER, partitions: running.status() }));
    }
  };

  const starting: Promise<void>[] = [];
  const begin = (name: string, work: Promise<void>): void => {
    readiness.until(name, work);
    starting.push(work);
  };
  if (roles.includes('enricher')) begin('enricher start', enricher());
  if (store !== undefined && roles.includes('writer')) begin('writer start', writer(store));
  if (roles.includes('archiver')) begin('archiver start', archiver());

  return {
    started: awaitedLater(Promise.all(starting).then(() => undefined)),
    status: () => statuses.map((status) => status()),
    async close() {
      await Promise.allSettled(starting);
      await stack.close();
    },
  };
}
