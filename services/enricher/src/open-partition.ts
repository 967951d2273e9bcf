import { DependencyError } from '@weir/domain/errors';
import { TOPIC_RAW } from '@weir/domain/topics';
import type { EventLog, PartitionConsumer, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { assertOwned } from '@weir/runtime/consume-retry';
import type { PartitionProgress } from '@weir/runtime/consume-status';
import type { Logger } from '@weir/runtime/logger';
import type { ConsumeMetrics } from '@weir/runtime/metrics';
import { appendOutcomes } from './append-outcomes.ts';
import { enrichBatch } from './enrich-batch.ts';
import type { Enrichment } from './enrichment.ts';

export interface PartitionDeps<Draft> {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly enrichment: Enrichment<Draft>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: ConsumeMetrics;
  readonly progress: PartitionProgress;
  readonly rawRetentionMs: number;
}

/** How far back state is rebuilt from the raw topic; older links come from the link table. */
const REBUILD_MAX_MS = 24 * 3600_000;

/**
 * One raw partition. The order of its steps is what "exactly once" stands on (design: 1 and 3), for each batch:
 *   1. read the state, hold the idempotency keys, finish the records in order;
 *   2. append the outcomes, again and again, until the log has all of them;
 *   3. write the state with the raw offset that it now goes up to;
 *   4. commit the raw offset.
 * A crash between any two repeats from the committed offset:
 * - after 2: outcomes are appended twice; the writer takes the first of each raw offset and skips the rest.
 * - after 3: the state is ahead of the records. Since 3 comes after 2, the log already has outcomes of all that the state has
 *   applied, so what the repeat makes of them is skipped, whatever a state from their future makes it look like; its changes
 *   are dropped (the store ignores them too), and the first record that is new to the state reads it afresh.
 * A state that is behind (lost or failed over, which shows in 1 or, where it happened since, in 3) is caught up by enriching
 * again what it lacks, with outcomes muted.
 * A handler that fails is given the same records again; `storedTo` then mutes the outcomes that the log has, and the state
 * is read anew: writing it again without reading could skip what a failed-over store has lost in between.
 */
export function openPartition<Draft>(handle: PartitionHandle, deps: PartitionDeps<Draft>): PartitionConsumer {
  const { eventLog, stateStore, progress, metrics, logger } = deps;
  const { partition, signal } = handle;
  const foldPartition = { logId: eventLog.logId, partition };

  /** The raw offset that must come next. */
  let next = handle.committed?.offset ?? 0;
  /** The log has the outcomes of all raw offsets below: repeats of them are not appended again. */
  let storedTo = next;
  let committedTo = next;
  /** Where rebuilding of the state began: at this offset it can't be brought any further back. */
  let rebuildFrom = -1;

  async function rebuild(appliedTo: number): Promise<void> {
    const oldest = (await eventLog.offsetsAtTime(TOPIC_RAW, deps.clock() - REBUILD_MAX_MS))[partition] ?? 0;
    const from = Math.min(next, Math.max(appliedTo, oldest));
    logger.warn({ partition, appliedTo, from, to: next }, 'state is behind the log: rebuilding it');
    rebuildFrom = from;
    next = from;
    handle.seek(from);
  }

  async function enrichRun(records: readonly StoredRecord[]): Promise<number | 'rebuild'> {
    const first = (records[0] as StoredRecord).offset;
    const batch = await enrichBatch({ ...deps, foldPartition }, records, first === rebuildFrom);
    if (batch.state === 'behind') {
      await rebuild(batch.appliedTo);
      return 'rebuild';
    }
    const end = first + batch.outcomes.length;
    const muted = Math.min(batch.outcomes.length, Math.max(0, storedTo - first));
    if (muted > 0) metrics.repeats(partition, muted);
    const outcomes = muted === 0 ? batch.outcomes : batch.outcomes.slice(muted);
    const base = first + muted;
    await appendOutcomes({
      eventLog,
      partition,
      outcomes,
      signal,
      onStored(count) {
        storedTo = base + count;
      },
      onFailure(reason) {
        metrics.failure(partition, 'append');
        progress.failed(reason);
        logger.warn({ partition, reason }, 'outcomes not appended yet');
      },
    });
    // Also when the partition is being taken away: it saves a repeat, and can't hurt (the store takes no state that is older
    // than its own, the log no commit of a partition that is another's).
    if (batch.appliedTo < end) {
      const applied = await stateStore.writeFold(foldPartition, { from: batch.appliedTo, to: end }, batch.changes);
      if (applied < end) {
        await rebuild(applied);
        return 'rebuild';
      }
    }
    return end;
  }

  return {
    async handle(records) {
      assertOwned(signal, partition);
      assertContiguous(records, next, partition);
      const startedAt = deps.clock();
      const ageMs = startedAt - (records[0] as StoredRecord).appendedAt;
      const late =
        ageMs > deps.rawRetentionMs / 2
          ? `half of the retention is used up: ${Math.round(ageMs / 60_000)} min behind`
          : undefined;
      if (late !== undefined && progress.raise(late)) metrics.alarm(partition);
      metrics.delay(partition, ageMs / 1000);
      let rest = records;
      while (rest.length > 0) {
        const end = await enrichRun(rest);
        if (end === 'rebuild') return;
        rest = rest.slice(end - (rest[0] as StoredRecord).offset);
      }
      const last = records[records.length - 1] as StoredRecord;
      // Never backwards: while the state is being rebuilt, the commit stands where the outcomes end.
      if (last.offset + 1 > committedTo) {
        await handle.commit({ offset: last.offset + 1, metadata: '' });
        committedTo = last.offset + 1;
      }
      next = last.offset + 1;
      progress.advance(records.length, next);
      if (late === undefined) progress.recovered();
      metrics.records(partition, records.length);
      metrics.batch(partition, (deps.clock() - startedAt) / 1000);
    },
    async close() {},
  };
}

/** Raw records without an outcome would be lost silently: anything but the next offset stops the partition. */
function assertContiguous(records: readonly StoredRecord[], next: number, partition: number): void {
  let expected = next;
  for (const { offset } of records) {
    if (offset !== expected) {
      const what = offset > expected ? 'are missing (retention?)' : 'were given again out of turn';
      throw new DependencyError(
        'event_log_damaged',
        `${TOPIC_RAW} partition ${partition}: expected raw offset ${expected}, found ${offset}: records ${what}`,
      );
    }
    expected++;
  }
}
