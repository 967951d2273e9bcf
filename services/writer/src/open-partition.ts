import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/topics';
import type { EventLog, PartitionConsumer, StoredRecord } from '@weir/ports/event-log';
import { assertLogReaches } from '@weir/runtime/assert-log-reaches';
import { assertOwned, describeError } from '@weir/runtime/consume-retry';
import { type Batch, readRow } from './batch.ts';
import { type BatchLimits, createBatcher } from './batcher.ts';
import { decodeProgress, encodeProgress, type Plan, type Progress } from './plan.ts';
import { createWriteBatch, type WriteBatchDeps } from './write-batch.ts';

export interface WriterLimits extends BatchLimits {
  readonly lingerMs: number;
  /** How long an insert of unknown outcome may still end in the table; default `UNKNOWN_SETTLES_MS`. */
  readonly unknownSettlesMs?: number;
}

export interface PartitionDeps extends WriteBatchDeps {
  readonly eventLog: EventLog;
  readonly limits: WriterLimits;
}

/**
 * One enriched partition. Rows gather in the batcher while the batch before is being inserted and while others have the turn;
 * `handle` waits while a full batch waits, so at most two batches and one delivery are in memory.
 */
export async function openPartition(deps: PartitionDeps): Promise<PartitionConsumer> {
  const { handle, limits, metrics, progress, logger } = deps;
  const { partition, signal } = handle;

  const start = await findStart(deps);
  if (start.warning !== undefined) logger.warn({ partition }, start.warning);
  const batcher = createBatcher(start.next, limits, start.redo);
  /** An outcome is missing: inserting what is before it is no recovery. */
  let gap = false;
  const writeBatch = createWriteBatch(
    {
      ...deps,
      unknownSettlesMs: limits.unknownSettlesMs,
      progress: {
        ...progress,
        recovered() {
          if (!gap) progress.recovered();
        },
      },
    },
    start.redo,
  );

  let readTo = handle.committed?.offset ?? 0;
  let committedTo = handle.committed?.offset ?? -1;
  let committedNext = start.redo === undefined ? start.next : -1;
  let linger: NodeJS.Timeout | undefined;
  let lingerOver = false;
  let redoing = start.redo !== undefined;
  let pumping: Promise<void> | undefined;
  let again = false;
  let lost: unknown;
  let roomWanted: (() => void) | undefined;

  const hasRoom = (): boolean => signal.aborted || lost !== undefined || batcher.fullBatches() === 0;
  const tellRoom = (): void => {
    if (hasRoom()) roomWanted?.();
  };
  signal.addEventListener('abort', tellRoom);

  /** All before the first row that waits is in the table. Without it, a plan that was carried out long ago would be redone. */
  async function commitDone(): Promise<void> {
    if (redoing) return;
    const first = batcher.firstRow();
    const offset = first?.offset ?? readTo;
    const next = first?.rawOffset ?? batcher.next();
    if (offset === committedTo && next === committedNext) return;
    await handle.commit({ offset, metadata: encodeProgress({ next }) });
    committedTo = offset;
    committedNext = next;
  }

  function cut(partial: boolean): Batch {
    const batch = batcher.take(partial) as Batch;
    if (batcher.firstRow() === undefined) disarm();
    tellRoom();
    committedNext = -1;
    return batch;
  }

  async function pump(): Promise<void> {
    while (!signal.aborted && batcher.ready(lingerOver)) {
      const partial = lingerOver;
      const batch = await writeBatch(() => cut(partial));
      redoing = false;
      const last = batch.rows[batch.rows.length - 1];
      progress.advance(batch.rows.length, (last?.offset ?? readTo) + 1);
      metrics.records(partition, batch.rows.length);
    }
    if (batcher.fullBatches() === 0 || signal.aborted) await commitDone();
  }

  function kick(): void {
    if (pumping !== undefined) again = true;
    if (pumping !== undefined || lost !== undefined) return;
    again = false;
    pumping = pump()
      .catch((error: unknown) => {
        // The next commit says it again; nothing that was inserted depends on this one.
        if (isDependencyError(error, 'event_log_unavailable')) {
          progress.failed(describeError(error).message);
          if (!signal.aborted) arm();
        } else lost = error;
      })
      .finally(() => {
        pumping = undefined;
        tellRoom();
        // The linger may have ended while the last commit was under way, even with repeats alone.
        if ((batcher.fullBatches() > 0 || again) && !signal.aborted) kick();
      });
  }

  function arm(): void {
    linger ??= setTimeout(() => {
      linger = undefined;
      lingerOver = true;
      kick();
    }, limits.lingerMs);
  }

  function disarm(): void {
    clearTimeout(linger);
    linger = undefined;
    lingerOver = false;
  }

  return {
    async handle(records) {
      if (lost !== undefined) throw lost;
      assertOwned(signal, partition);
      arm();
      const repeats = take(records);
      if (repeats > 0) metrics.repeats(partition, repeats);
      const oldest = records[0];
      if (oldest !== undefined) metrics.delay(partition, (deps.clock() - oldest.appendedAt) / 1000);
      if (batcher.fullBatches() > 0) kick();
      while (!hasRoom()) {
        await new Promise<void>((resolve) => {
          roomWanted = resolve;
        });
      }
      roomWanted = undefined;
      if (lost !== undefined) throw lost;
    },
    async close() {
      signal.removeEventListener('abort', tellRoom);
      disarm();
      await pumping;
    },
  };

  /** Returns how many were repeats. Throws where an outcome is missing; those before it are taken and will be inserted. */
  function take(records: readonly StoredRecord[]): number {
    let repeats = 0;
    gap = true;
    for (const record of records) {
      if (!batcher.push(readRow(record))) repeats++;
      readTo = Math.max(readTo, record.offset + 1);
    }
    gap = false;
    return repeats;
  }
}

interface Start {
  readonly next: number;
  /** The planned range to insert again, before anything else. */
  readonly redo?: Plan;
  readonly warning?: string;
}

/** Where to go on: what the commit says, but never below what the table holds. Rejects where the log has less than these. */
async function findStart({ handle, analytics, eventLog, logId }: PartitionDeps): Promise<Start> {
  const committed = readCommitted(handle.committed?.metadata ?? '', handle.partition);
  const highest = await analytics.highestRawOffset(logId, handle.partition);
  const { next, plan } = committed ?? { next: 0 };
  const read = handle.committed?.offset ?? 0;
  const log = { eventLog, group: GROUP_WRITER, partition: handle.partition };
  await assertLogReaches({
    ...log,
    topic: TOPIC_RAW,
    end: highest + 1,
    seenBy: 'the table records',
    cutAt: committed?.cutAt,
    // Kept with the offset: the next look, or the next start, may find that the log has grown past it.
    onCut: (cutAt) => handle.commit({ offset: read, metadata: encodeProgress({ ...(committed ?? { next }), cutAt }) }),
  });
  await assertLogReaches({ ...log, topic: TOPIC_RAW, end: next, seenBy: "the writer's commit" });
  await assertLogReaches({ ...log, topic: TOPIC_ENRICHED, end: read, seenBy: "the writer's commit" });

  // Beyond its end nothing is inserted before another plan is committed: the commit is older than the table (it was lost or
  // set back), and the plan's token may be forgotten by now.
  if (plan !== undefined && highest > plan.to) {
    return {
      next: highest + 1,
      warning: `records is ahead of the committed plan: going on after raw offset ${highest}`,
    };
  }
  if (plan !== undefined) return { next: plan.from, redo: plan };
  if (highest >= next) {
    return { next: highest + 1, warning: `records is ahead of the commit: going on after raw offset ${highest}` };
  }
  if (committed !== undefined && highest < next - 1) {
    return {
      next,
      warning: `records holds raw offsets up to ${highest} only, but ${next - 1} was inserted: were rows removed?`,
    };
  }
  return { next };
}

function readCommitted(metadata: string, partition: number): Progress | undefined {
  try {
    return decodeProgress(metadata);
  } catch (error) {
    throw new DependencyError(
      'event_log_damaged',
      `${TOPIC_ENRICHED} partition ${partition}: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
