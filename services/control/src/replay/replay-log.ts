import { DependencyError } from '@weir/domain/errors';
import type { ReplayStart } from '@weir/domain/registry/replay';
import type { EventLog, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import { rawOffsetOf } from './plan-replay.ts';
import type { ReplayGate } from './replay-gate.ts';

export interface ReplayLogDeps {
  readonly eventLog: EventLog;
  /** Names the run in the metadata of its commits. The group may have commits of earlier runs. */
  readonly run: string;
  readonly starts: readonly ReplayStart[];
  readonly gate: ReplayGate;
}

/** The event log as the writer of a replay sees it: consumption begins where the replay begins, and passes the gate. */
export function createReplayLog({ eventLog, run, starts, gate }: ReplayLogDeps): EventLog {
  return {
    ...eventLog,
    consume: (options) =>
      eventLog.consume({
        ...options,
        async open(handle) {
          const own = ofRun(handle, run);
          const consumer = await options.open(own);
          if (own.committed === undefined) handle.seek(starts[handle.partition]?.offset ?? 0);
          return {
            async handle(records) {
              // Without records, it was woken.
              if (records.length === 0) return consumer.handle(records);
              let rest = records;
              while (rest.length > 0) {
                const count = await gate.admit(handle.partition, rest.map(rawOffsetOf), handle.signal);
                if (count === 0) throw lost(handle.partition);
                await consumer.handle(rest.slice(0, count) as readonly StoredRecord[]);
                rest = rest.slice(count);
              }
            },
            close: () => consumer.close(),
          };
        },
      }),
  };
}

/** The offset that a run has committed, if any. */
export function committedOf(
  run: string,
  position: { readonly committed: number | undefined; readonly metadata: string | undefined },
): number | undefined {
  return position.metadata?.startsWith(`${run} `) ? position.committed : undefined;
}

function ofRun(handle: PartitionHandle, run: string): PartitionHandle {
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
