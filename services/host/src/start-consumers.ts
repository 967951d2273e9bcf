import type { ConsumerStatus } from '@weir/control/control-deps';
import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/topics';
import { createEnrichment } from '@weir/enricher/pipeline';
import { startEnricher } from '@weir/enricher/service';
import type { Config } from '@weir/runtime/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/metrics';
import { startWriter } from '@weir/writer/service';
import type { OpenAnalytics } from './open-analytics.ts';
import type { Ports } from './open-ports.ts';
import type { Readiness } from './readiness.ts';
import type { Role } from './roles.ts';
import type { SharedGeo } from './shared-geo.ts';
import { createStack } from './stack.ts';

const HOUR_MS = 3_600_000;

export interface ConsumersDeps {
  readonly roles: readonly Role[];
  readonly config: Config;
  readonly ports: Ports;
  readonly store: OpenAnalytics | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly geo: SharedGeo;
}

export interface Consumers {
  /** Resolves when the consuming roles do their work; rejects when one of them never will. */
  readonly started: Promise<void>;
  readonly status: () => readonly ConsumerStatus[];
  close(): Promise<void>;
}

/** Starts the enricher and the writer, as far as they are among the roles, each as soon as what it needs is there. */
export function startConsumers(deps: ConsumersDeps): Consumers {
  const { roles, config, ports, store, logger, clock, metrics, readiness } = deps;
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
        limits: { rawRetentionMs: config.rawRetentionHours * HOUR_MS },
      }),
      (running) => running.close(),
    );
    readiness.while('enricher', () => started.ready());
    statuses.push(() => ({ topic: TOPIC_RAW, consumer: GROUP_ENRICHER, partitions: started.status() }));
  };

  const writer = async ({ analytics, ready }: OpenAnalytics): Promise<void> => {
    await ready;
    const { writerRowsMax: rowsMax, writerBytesMax: bytesMax, writerLingerMs: lingerMs } = config.batch;
    const limits = { rowsMax, bytesMax, lingerMs };
    const { eventLog } = ports;
    const started = stack.add(await startWriter({ eventLog, analytics, clock, logger, metrics, limits }), (running) =>
      running.close(),
    );
    readiness.while('writer', () => started.ready());
    statuses.push(() => ({ topic: TOPIC_ENRICHED, consumer: GROUP_WRITER, partitions: started.status() }));
  };

  const starting: Promise<void>[] = [];
  const begin = (name: string, work: Promise<void>): void => {
    readiness.until(name, work);
    starting.push(work);
  };
  if (roles.includes('enricher')) begin('enricher start', enricher());
  if (store !== undefined) begin('tables', store.ready);
  if (store !== undefined && roles.includes('writer')) begin('writer start', writer(store));

  const started = Promise.all(starting).then(() => undefined);
  // Awaited by the start; a failure that comes while it is still busy elsewhere must not end the process unheard.
  started.catch(() => undefined);
  return {
    started,
    status: () => statuses.map((status) => status()),
    async close() {
      await Promise.allSettled(starting);
      await stack.close();
    },
  };
}
