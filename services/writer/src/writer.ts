import { GROUP_REPLAY_WRITER, GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { Analytics } from '@weir/ports/analytics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog } from '@weir/ports/event-log';
import { type RunningConsumer, runConsumer } from '@weir/runtime/consume/run-consumer';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { createSlots } from '@weir/runtime/task-slots';
import type { WriterLimits } from './batcher.ts';
import { createLatestBlock } from './latest-block.ts';
import { openPartition } from './open-partition.ts';
import type { WritersPauses } from './pause/writers-pause.ts';
import type { ReplayedRows } from './replayed-rows.ts';

export interface WriterDeps {
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly clock: () => number;
  /** A monotonic clock that measures how long inserts take (`PartitionWriterDeps`). */
  readonly monotonicMs?: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The writer does not insert while this reports too little free space. */
  readonly disk?: DiskSpace | undefined;
  /** If undefined, the writer never pauses. */
  readonly pauses: WritersPauses | undefined;
  /** Set only for the writer of a replay, which has its own consumer group. Undefined for the live writer. */
  readonly replay?: ReplayedRows;
  readonly limits: WriterLimits & {
    /** The maximum number of concurrent inserts, each of another partition. The default is 2. */
    readonly insertsMax?: number;
  };
}

export type Writer = RunningConsumer;

/**
 * Starts the writer, which inserts each outcome of `events.enriched` into the table `records` exactly once, partition by
 * partition.
 */
export function startWriter(deps: WriterDeps): Promise<Writer> {
  const { eventLog, clock, logger, metrics, limits, replay } = deps;
  const latestBlock = createLatestBlock(deps.analytics, deps.monotonicMs ?? (() => performance.now()));
  const insertSlots = createSlots(limits.insertsMax ?? 2);
  return runConsumer({
    role: replay === undefined ? 'writer' : 'replay',
    topic: TOPIC_ENRICHED,
    group: replay === undefined ? GROUP_WRITER : GROUP_REPLAY_WRITER,
    eventLog,
    clock,
    logger,
    metrics,
    openPartition: (assigned) => openPartition({ ...deps, ...assigned, insertSlots, latestBlock }),
  });
}
