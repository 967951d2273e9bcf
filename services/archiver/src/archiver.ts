import { GROUP_ARCHIVER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { assertNoUnknownSegments } from '@weir/runtime/archive/unknown-segments';
import type { PartitionStatus } from '@weir/runtime/consume/consume-status';
import { type RunningConsumer, runConsumer } from '@weir/runtime/consume/run-consumer';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { type ArchiveLimits, openPartitionArchiver } from './archive-partition.ts';
import { startArchiveUpkeep } from './archive-upkeep.ts';

export interface ArchiverDeps {
  readonly eventLog: EventLog;
  readonly store: ObjectStore;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits: ArchiveLimits & {
    /** Segments (objects with archived records) that are older than this are deleted. If undefined, no segment is deleted. */
    readonly retentionMs: number | undefined;
    /** The time between two runs of the upkeep, which deletes old segments and writes the manifest. */
    readonly upkeepMs: number;
  };
}

export interface Archiver {
  /** The consumers that archive `events.raw` and `events.enriched`. */
  readonly consumers: readonly {
    readonly topic: string;
    readonly running: Pick<RunningConsumer, 'ready' | 'status'>;
  }[];
  close(): Promise<void>;
}

const ROLES = { [TOPIC_RAW]: 'archiver_raw', [TOPIC_ENRICHED]: 'archiver_enriched' } as const;

/**
 * Starts to archive `events.raw` and `events.enriched`. The segments keep the records after the retention of the topics has removed
 * them.
 */
export async function startArchiver(deps: ArchiverDeps): Promise<Archiver> {
  const { eventLog, store, clock, logger, metrics, limits } = deps;
  const consumers: { readonly topic: string; readonly running: RunningConsumer }[] = [];
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED] as const) {
    const running = await runConsumer({
      role: ROLES[topic],
      topic,
      group: GROUP_ARCHIVER,
      eventLog,
      clock,
      logger,
      metrics,
      async openPartition(assigned) {
        // After a restore of an older log, new records get offsets that the archive already has for lost records. This call then rejects, because the
        // archive would mix both.
        await assertNoUnknownSegments(store, eventLog, assigned.handle);
        return openPartitionArchiver({ ...assigned, eventLog, store, clock, logger, limits });
      },
    });
    consumers.push({ topic, running });
  }
  const upkeep = startArchiveUpkeep({
    store,
    clock,
    logger,
    metrics,
    limits,
    isLeader: () => leads(consumers[0]?.running),
  });
  return {
    consumers: consumers.map(({ topic, running }) => ({
      topic,
      running: { ready: running.ready, status: () => withProblem(topic, running.status(), upkeep.problem()) },
    })),
    async close() {
      await upkeep.close();
      for (const { running } of consumers) await running.close();
    },
  };
}

/** Shows a failure of the upkeep as the last error of the partition whose owner does the upkeep, if the partition has no error of its own. */
function withProblem(topic: string, partitions: readonly PartitionStatus[], problem: string | undefined) {
  if (problem === undefined || topic !== TOPIC_RAW) return partitions;
  return partitions.map((one) => (one.partition === 0 ? { lastError: problem, ...one } : one));
}

/** The process to which partition 0 of `events.raw` is assigned does the upkeep. */
function leads(running: RunningConsumer | undefined): boolean {
  return running?.status().some(({ partition }) => partition === 0) ?? false;
}
