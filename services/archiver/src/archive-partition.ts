import { withoutSealedAddress } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog, PartitionConsumer, StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { createSegmentEncoder, type SegmentEncoder } from '@weir/runtime/archive/segment-encoder';
import { segmentName } from '@weir/runtime/archive/segment-name';
import { decodeSegmentPlan, encodeSegmentPlan } from '@weir/runtime/archive/segment-plan';
import { assertAssigned } from '@weir/runtime/consume/consume-retry';
import type { AssignedPartition } from '@weir/runtime/consume/run-consumer';
import type { Logger } from '@weir/runtime/logger';

export interface ArchiveLimits {
  /** A segment is an object with consecutive records of one partition. It is stored when it has this many bytes before compression. */
  readonly segmentBytesMax: number;
  /** A segment is also stored when this much time has passed since its first record was read. */
  readonly lingerMs: number;
}

export interface PartitionArchiverDeps extends AssignedPartition {
  readonly eventLog: Pick<EventLog, 'logId'>;
  readonly store: ObjectStore;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly limits: ArchiveLimits;
}

/** A segment under construction: the records from `from` to `next` - 1. */
interface OpenSegment {
  readonly encoder: SegmentEncoder;
  readonly from: number;
  /** When its first record was appended to the log, in Unix milliseconds. */
  readonly firstAppendedAt: number;
  lingerIsOver: boolean;
}

/** A segment whose range is decided. The archiver commits the range before it stores the segment. */
interface SealedSegment {
  readonly from: number;
  readonly to: number;
  readonly firstAppendedAt: number;
  readonly encoder: SegmentEncoder;
  object?: readonly Uint8Array[];
}

/**
 * Archives one partition as segments (objects with consecutive records) without overlaps. There are gaps only where retention has removed records
 * from the topic before they were archived. For each segment, the archiver
 *
 *     1. collects records until the segment is full or the linger time is over,
 *     2. commits its range as a plan, at the offset of its first record,
 *     3. stores the object, whose name is the range, unless it exists,
 *     4. commits the offset after its last record.
 *
 * After a crash before 2, the next owner starts again with 1. After a crash between 2 and 4, it builds the same range again, and does not replace an
 * object that exists. A process that has lost the partition cannot commit a plan, so it cannot store a range that overlaps. If a process loses the
 * partition between 2 and 3, this process and the next owner store the same range, and only the first of the two objects is kept.
 */
export function openPartitionArchiver(deps: PartitionArchiverDeps): PartitionConsumer {
  const { handle, eventLog, store, clock, logger, limits, metrics, progress } = deps;
  const { topic, partition, signal } = handle;
  const { logId } = eventLog;

  let plan = decodeSegmentPlan(handle.committed?.metadata ?? '');
  let segment: OpenSegment | undefined;
  let sealed: SealedSegment | undefined;
  /** The offset after the last record that was added to a segment. Before the first record: the committed offset, or -1 without a commit. */
  let next = handle.committed?.offset ?? -1;
  let timer: NodeJS.Timeout | undefined;

  async function take(record: StoredRecord): Promise<void> {
    if (record.offset < next) return;
    // Without a commit, the group is new and begins with the oldest remaining record. In this case, no record was missed.
    if (record.offset > next && next >= 0) {
      await sealAndStore();
      logger.error({ topic, partition, from: next, to: record.offset - 1 }, MISSED);
    }
    if (segment === undefined) openSegment(record);
    const { encoder, from } = segment as unknown as OpenSegment;
    await encoder.add(topic === TOPIC_RAW ? { ...record, value: withoutSealedAddress(record.value) } : record);
    next = record.offset + 1;
    const isFull = plan?.from === from ? record.offset === plan.to : encoder.bytes() >= limits.segmentBytesMax;
    if (isFull) await sealAndStore();
  }

  function openSegment({ offset, appendedAt }: StoredRecord): void {
    if (plan?.from !== offset) plan = undefined;
    const opened = { encoder: createSegmentEncoder(), from: offset, firstAppendedAt: appendedAt, lingerIsOver: false };
    segment = opened;
    clearTimeout(timer);
    // Only this flag says that the linger time is over. The clock is not compared, because a timer can fire a millisecond before the clock reaches
    // this time.
    timer = setTimeout(() => {
      opened.lingerIsOver = true;
      handle.wake();
    }, limits.lingerMs);
    timer.unref();
  }

  function isLingerOver(): boolean {
    return segment?.lingerIsOver === true && plan === undefined;
  }

  async function sealAndStore(): Promise<void> {
    if (segment === undefined) return;
    const { from, firstAppendedAt, encoder } = segment;
    sealed = { from, to: next - 1, firstAppendedAt, encoder };
    segment = undefined;
    await storeSealed();
  }

  /**
   * Stores the sealed segment, if there is one. If this rejects, the event log calls `handle` below again with the same records, and `handle` first
   * tries again to store the segment.
   */
  async function storeSealed(): Promise<void> {
    if (sealed === undefined) return;
    const { from, to } = sealed;
    const range = { topic, logId, partition, from, to };
    const started = clock();
    assertAssigned(signal, partition);
    if (plan?.from !== from || plan.to !== to) {
      await handle.commit({ offset: from, metadata: encodeSegmentPlan({ from, to }) });
      plan = { from, to };
    }
    sealed.object ??= await sealed.encoder.finish(range);
    // If the object exists, an earlier attempt with the same plan has stored it, and an erasure may have rewritten it since. So it is not
    // replaced.
    await store.create(segmentName(range), Buffer.concat(sealed.object));
    await handle.commit({ offset: to + 1, metadata: '' });
    plan = undefined;
    sealed = undefined;
    progress.recovered();
    progress.advance(to - from + 1, to + 1);
    metrics.records(partition, to - from + 1);
    metrics.batch(partition, (clock() - started) / 1000);
  }

  return {
    async handle(records) {
      // If the last attempt to store a segment failed, the segment has the oldest record. The linger time of an open segment is not a delay.
      const oldestAt = sealed?.firstAppendedAt ?? records[0]?.appendedAt;
      if (oldestAt !== undefined) metrics.delay(partition, (clock() - oldestAt) / 1000);
      await storeSealed();
      for (const record of records) await take(record);
      if (isLingerOver()) await sealAndStore();
      metrics.idle(partition);
    },
    // The open segment is discarded. Its records are read again after the next assignment.
    async close() {
      clearTimeout(timer);
    },
  };
}

const MISSED =
  'records are missing in the archive: retention removed them from the topic before they were archived. Lengthen the retention, or find out why the archiver was behind';
