import { DependencyError } from '@weir/domain/errors';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ReplayStart } from '@weir/domain/registry/replay';
import type { EventLog, PartitionConsumer, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import type { ReplayGate } from './replay-gate.ts';

export interface ReplayLogDeps {
  readonly eventLog: EventLog;
  /** The topic from which the writer reads outcomes. */
  readonly topic: string;
  /** The name of this run. It is in the metadata of each commit, because the group can have commits of earlier runs. */
  readonly run: string;
  readonly starts: readonly ReplayStart[];
  readonly gate: ReplayGate;
  /** Resolves with how many of the records may be handled now, counted from the first record, or with 0 if the partition was revoked. */
  readonly admit: (handle: PartitionHandle, records: readonly StoredRecord[]) => Promise<number>;
  /** Whether the record belongs to this run. Records of other runs are skipped. */
  readonly isOwn: (record: StoredRecord) => boolean;
}

/**
 * Returns an event log for the writer of a replay. It ignores commits of earlier runs, begins at the start of the replay, and delivers only the
 * records that the gate (replay-gate.ts) admits.
 */
export function createReplayLog({ eventLog, topic, run, starts, gate, admit, isOwn }: ReplayLogDeps): EventLog {
  const nameOf = (name: string): string => (name === TOPIC_ENRICHED ? topic : name);
  return {
    ...eventLog,
    positions: (name, ...more) => eventLog.positions(nameOf(name), ...more),
    consume: (options) =>
      eventLog.consume({
        ...options,
        topic: nameOf(options.topic),
        open(handle) {
          const own = ofRun(handle, run);
          return openAdmitting(
            own,
            async (admitted) => {
              const consumer = await options.open(admitted);
              if (own.committed === undefined) handle.seek(starts[handle.partition]?.offset ?? 0);
              return {
                ...consumer,
                async handle(records) {
                  const wanted = records.filter(isOwn);
                  if (wanted.length > 0 || records.length === 0) await consumer.handle(wanted);
                },
              };
            },
            { gate, admit: (records) => admit(handle, records) },
          );
        },
      }),
  };
}

interface Admission {
  readonly gate: Pick<ReplayGate, 'slice'>;
  /** Resolves with how many of the records may be handled now, counted from the first record, or with 0 if the partition was revoked. */
  readonly admit: (records: readonly StoredRecord[]) => Promise<number>;
}

/** Opens a consumer that gets records only when they are admitted. */
export async function openAdmitting(
  handle: PartitionHandle,
  open: (handle: PartitionHandle) => Promise<PartitionConsumer>,
  { gate, admit }: Admission,
): Promise<PartitionConsumer> {
  let hasSought = false;
  /**
   * The offset at which a call of `handle` failed. The log then delivers the same records again. The consumer must not get the records before this
   * offset again, because it has already handled them.
   */
  let failedAt: number | undefined;
  const consumer = await open({
    ...handle,
    seek(offset) {
      hasSought = true;
      failedAt = undefined;
      handle.seek(offset);
    },
  });
  return {
    ...consumer,
    async handle(records) {
      // The log calls `handle` without records after a call of `wake`. Such a call does not need the gate.
      if (records.length === 0) return consumer.handle(records);
      hasSought = false;
      const first = failedAt;
      let rest = first === undefined ? records : records.filter(({ offset }) => offset >= first);
      // After a seek, the consumer continues at another offset, so the rest of this delivery is dropped.
      while (rest.length > 0 && !hasSought) {
        failedAt = rest[0]?.offset;
        const count = await admit(rest);
        if (count === 0) throw lost(handle.partition);
        const admitted = rest.slice(0, count);
        await gate.slice(() => consumer.handle(admitted));
        rest = rest.slice(count);
      }
      failedAt = undefined;
    },
  };
}

/** Returns the offset that this run has committed. Undefined if there is no commit, or if the commit belongs to another run. */
export function committedOf(
  run: string,
  position: { readonly committed: number | undefined; readonly metadata: string | undefined },
): number | undefined {
  return position.metadata?.startsWith(`${run} `) ? position.committed : undefined;
}

export function ofRun(handle: PartitionHandle, run: string): PartitionHandle {
  const mark = `${run} `;
  const { committed } = handle;
  return {
    topic: handle.topic,
    partition: handle.partition,
    signal: handle.signal,
    committed: committed?.metadata.startsWith(mark)
      ? { offset: committed.offset, metadata: committed.metadata.slice(mark.length) }
      : undefined,
    commit: ({ offset, metadata }) => handle.commit({ offset, metadata: mark + metadata }),
    seek: (offset) => handle.seek(offset),
    wake: () => handle.wake(),
  };
}

function lost(partition: number): DependencyError {
  return new DependencyError('partition_lost', `partition ${partition} was revoked while its replay waited`);
}
