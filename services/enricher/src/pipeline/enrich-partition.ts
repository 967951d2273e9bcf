import { DependencyError } from '@weir/domain/errors';
import { TOPIC_RAW } from '@weir/domain/records/topics';
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
import { enrichBatch } from './enrich-batch.ts';
import type { Enrichment } from './enrichment.ts';
import { createPartitionEpoch } from './partition-epoch.ts';
import type { StateBarrier } from './state-barrier.ts';

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
}

/**
 * One raw partition. The order of its steps is what "exactly once" stands on (docs/architecture.md), for each batch:
 *   1. read the state, hold the idempotency keys, finish the records in order;
 *   2. append the outcomes, again and again, until the log has all of them;
 *   3. write the state with the raw offset that it now goes up to;
 *   4. commit the raw offset.
 * A crash between any two repeats from the committed offset:
 * - after 2: outcomes are appended twice; the writer takes the first of each raw offset and skips the rest.
 * - after 3: the state is ahead of the records. Since 3 comes after 2, the log already has outcomes of all that the state has
 *   applied, so what the repeat makes of them is skipped, whatever a state from their future makes it look like; its changes
 *   are dropped (the store ignores them too), and the first record that is new to the state reads it afresh.
 * A handler that fails is given the same records again; `storedTo` then mutes the outcomes that the log has, and the state
 * is read again.
 * Steps 1 and 3 name the epoch of the state store. When it is over, the partition checks in to the next one (partition-epoch.ts):
 * it folds again what the store lacks of the records that have outcomes, muted, by what those outcomes say of their keys.
 */
export function openPartition<Decoded>(handle: PartitionHandle, deps: PartitionDeps<Decoded>): PartitionConsumer {
  const { eventLog, stateStore, progress, metrics, logger, barrier } = deps;
  const { partition, signal } = handle;
  const foldPartition = { logId: eventLog.logId, partition };
  const epochs = createPartitionEpoch(handle, deps);

  /** The raw offset that must come next. */
  let next = handle.committed?.offset ?? 0;
  /** The log has the outcomes of all raw offsets below: repeats of them are not appended again. */
  let storedTo = next;
  let committedTo = next;

  /** The state store is in another epoch, or is to begin one: the records from this offset on are handled in that one. */
  function again(offset: number): 'again' {
    next = offset;
    handle.seek(offset);
    return 'again';
  }

  async function enrichRun(records: readonly StoredRecord[], epoch: string): Promise<number | 'again'> {
    const first = (records[0] as StoredRecord).offset;
    const decided = await epochs.decided(first, first + records.length);
    const own = decided === undefined ? records : records.slice(0, decided.to - first);
    const batch = await enrichBatch(
      { ...deps, foldPartition, epoch, decided: decided?.outcomes, whole: () => barrier.whole(epoch, signal) },
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
        logger.warn({ partition, reason }, 'outcomes not appended yet');
      },
    });
    // Also when the partition is being revoked: it saves a repeat, and does no harm (the store takes no state that is older
    // than its own, the log no commit of a partition that is another member's).
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
  // Without it a partition that has no records would not check in.
  handle.wake();

  return {
    async handle(records) {
      await waitForDiskSpace({ ...deps, partition, signal });
      assertAssigned(signal, partition);
      const { id: epoch } = await barrier.current();
      const entered = await epochs.enter(epoch, { next, storedTo, committedTo });
      storedTo = entered.storedTo;
      if (entered.next !== next) {
        again(entered.next);
        return;
      }
      if (records.length === 0) {
        progress.recovered();
        return;
      }
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
        const end = await enrichRun(rest, epoch);
        if (end === 'again') return;
        rest = rest.slice(end - (rest[0] as StoredRecord).offset);
      }
      const last = records[records.length - 1] as StoredRecord;
      // The committed offset never decreases. While the state is rebuilt from earlier records, it stays where the outcomes in the log end.
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
    async close() {
      leave();
    },
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
