import { DependencyError } from '@weir/domain/errors';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog, PartitionConsumer, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { assertAssigned } from '@weir/runtime/consume/consume-retry';
import type { PartitionProgress } from '@weir/runtime/consume/consume-status';
import { waitForDiskSpace } from '@weir/runtime/consume/wait-for-disk-space';
import type { Logger } from '@weir/runtime/logger';
import type { ConsumeMetrics } from '@weir/runtime/prometheus-metrics';
import { appendOutcomes } from './append-outcomes.ts';
import { followOutcomes } from './decided-outcomes.ts';
import { enrichBatch } from './enrich-batch.ts';
import type { Enrichment } from './enrichment.ts';
import { createPartitionEpoch } from './partition-epoch.ts';
import type { StateBarrier } from './state-barrier.ts';
import { truncationText } from './truncation.ts';

export interface PartitionDeps<Decoded> {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly enrichment: Enrichment<Decoded>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: ConsumeMetrics;
  readonly progress: PartitionProgress;
  readonly rawRetentionMs: number;
  readonly disk?: DiskSpace | undefined;
  readonly barrier: StateBarrier;
  /** Only for a replay: the log with the outcomes from live traffic, which say which records are duplicates (`EnricherDeps` in enricher.ts). */
  readonly answeredIn?: EventLog | undefined;
}

/**
 * Enriches one raw partition. The order of these steps makes the enricher exactly-once (docs/exactly-once.md). For each batch:
 *   1. read the state, claim the idempotency keys, enrich the records in order;
 *   2. append the outcomes, with retries until the log has all of them;
 *   3. write the state together with the raw offset (offset in `events.raw`) up to which it was applied;
 *   4. commit the raw offset.
 * After a crash, the next owner starts again at the committed offset:
 * - Crash after step 2: the outcomes are appended a second time. The writer stores the first outcome of each raw offset and skips the others.
 * - Crash after step 3: the state is ahead of the committed offset. The log already has the outcomes of all records that the state has applied, so
 *   the writer skips the repeated outcomes, even if they differ. The state store ignores the repeated changes. The state is read again before the
 *   first record that it has not applied.
 * After an error, the same records are processed again. `storedTo` prevents a second append of the outcomes that the log has, and the state is read
 * again.
 * Steps 1 and 3 name the epoch of the state store: a period in which the store loses no content. At the beginning of a new epoch, the store can lack
 * the changes of some records. The partition first applies these records a second time (partition-epoch.ts). It does not append their outcomes: the
 * log already has them, and they say which records are duplicates.
 */
export function openPartition<Decoded>(handle: PartitionHandle, deps: PartitionDeps<Decoded>): PartitionConsumer {
  const { eventLog, stateStore, progress, metrics, logger, barrier } = deps;
  const { partition, signal } = handle;
  const foldPartition = { logId: eventLog.logId, partition };
  const epochs = createPartitionEpoch(partition, commit, deps);
  const answered = deps.answeredIn && followOutcomes(deps.answeredIn, partition);

  let hasPlace = handle.committed !== undefined;
  /** The next raw offset to process. */
  let next = handle.committed?.offset ?? 0;
  /** The log has the outcomes of all raw offsets below this one. These outcomes are not appended again. */
  let storedTo = next;
  let committedTo = next;
  /** The offset at which the raw partition ended when the log had lost records. Undefined if no loss was found since the partition was opened. */
  let truncatedAt: number | undefined;

  function commit(offset: number): Promise<void> {
    return handle.commit({ offset, metadata: truncationText(truncatedAt) });
  }

  /**
   * Seeks to this offset, so that the records from there on are processed again. Called when the epoch of the state store is over, or when
   * the state must be rebuilt from earlier records.
   */
  function again(offset: number): 'again' {
    next = offset;
    handle.seek(offset);
    return 'again';
  }

  /** If no offset is committed, the partition begins with the oldest record that the log has, because retention may have removed earlier ones. */
  async function takePlace(oldest: StoredRecord | undefined): Promise<void> {
    if (hasPlace) return;
    const [position] = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER, [partition]);
    next = oldest?.offset ?? position?.first ?? 0;
    storedTo = next;
    committedTo = next;
    hasPlace = true;
  }

  async function enrichRun(records: readonly StoredRecord[], epoch: string): Promise<number | 'again'> {
    const first = (records[0] as StoredRecord).offset;
    const decided = await epochs.decided(first, first + records.length);
    const own = decided === undefined ? records : records.slice(0, decided.to - first);
    const decidedOutcomes = decided === undefined ? undefined : async () => decided.outcomes;
    const outcomesBefore = answered === undefined ? decidedOutcomes : () => answered.read(first, first + own.length);
    const batch = await enrichBatch(
      { ...deps, foldPartition, epoch, decided: outcomesBefore, whole: () => barrier.whole(epoch, signal) },
      own,
      first === epochs.rebuiltFrom(),
    );
    if (batch.state !== 'enriched') {
      assertAssigned(signal, partition);
      if (batch.state === 'behind') await barrier.end(epoch);
      else barrier.over(epoch);
      return again(first);
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
        const shortage = deps.disk?.shortage();
        if (shortage !== undefined && progress.raise(shortage)) metrics.alarm(partition);
        logger.warn({ partition, reason }, 'appending outcomes failed: retrying');
      },
    });
    // The state is also written while the partition is being revoked. `handle` can then commit these records, so a new owner need not process them.
    // A late write does no harm: the state store ignores changes that are older than its state, and the log refuses the commit of an old owner.
    if (batch.appliedTo < end) {
      const run = { from: batch.appliedTo, to: end };
      const applied = await stateStore.writeState(epoch, foldPartition, run, batch.changes);
      if (applied === undefined || applied < end) {
        if (applied === undefined) barrier.over(epoch);
        else await barrier.end(epoch);
        return again(first);
      }
    }
    if (decided !== undefined && !(await epochs.folded(end, end - first, committedTo))) return again(first);
    return end;
  }

  const leave = barrier.join({ partition, checkedIn: epochs.checkedIn, wake: () => handle.wake() });
  // Makes the consumer call `handle` even if there are no records: a partition without records must also report that its state is complete.
  handle.wake();

  return {
    async handle(records) {
      const [oldest] = records;
      // Before the first wait: otherwise the delay of an idle partition would become 0 while this batch waits, for example for disk space.
      if (oldest !== undefined) metrics.delay(partition, (deps.clock() - oldest.appendedAt) / 1000);
      await waitForDiskSpace({ ...deps, partition, signal });
      assertAssigned(signal, partition);
      await takePlace(oldest);
      const { id: epoch } = await barrier.current();
      const entered = await epochs.enter(epoch, { next, storedTo, committedTo });
      storedTo = entered.storedTo;
      if (entered.next !== next) {
        again(entered.next);
        return;
      }
      if (oldest === undefined) {
        progress.recovered();
        return;
      }
      const first = oldest.offset;
      if (first > next && first <= committedTo && epochs.beginAgain()) {
        again(first);
        return;
      }
      assertContiguous(records, next, partition);
      const startedAt = deps.clock();
      const ageMs = startedAt - oldest.appendedAt;
      const late =
        ageMs > deps.rawRetentionMs / 2
          ? `half of the retention is used up: ${Math.round(ageMs / 60_000)} min behind`
          : undefined;
      if (late !== undefined && progress.raise(late)) metrics.alarm(partition);
      let rest = records;
      while (rest.length > 0) {
        const end = await enrichRun(rest, epoch);
        if (end === 'again') return;
        rest = rest.slice(end - (rest[0] as StoredRecord).offset);
      }
      const last = records[records.length - 1] as StoredRecord;
      // The committed offset never decreases. While the state is rebuilt from earlier records, the committed offset stays the
      // same.
      if (last.offset + 1 > committedTo) {
        await commit(last.offset + 1);
        committedTo = last.offset + 1;
      }
      next = last.offset + 1;
      progress.advance(records.length, next);
      if (late === undefined) progress.recovered();
      metrics.records(partition, records.length);
      metrics.batch(partition, (deps.clock() - startedAt) / 1000);
      metrics.idle(partition);
    },
    async truncated(end) {
      truncatedAt = end;
      if (hasPlace) await commit(committedTo);
    },
    async close() {
      leave();
    },
  };
}

/** If a raw record is missing, the partition must not continue silently. Any offset other than the expected one stops the partition. */
function assertContiguous(records: readonly StoredRecord[], next: number, partition: number): void {
  let expected = next;
  for (const { offset } of records) {
    if (offset !== expected) {
      const what = offset > expected ? 'are missing (retention?)' : 'were delivered again in the wrong order';
      throw new DependencyError(
        'event_log_damaged',
        `${TOPIC_RAW} partition ${partition}: expected raw offset ${expected}, found ${offset}: records ${what}`,
      );
    }
    expected++;
  }
}
