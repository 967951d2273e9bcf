import { DependencyError } from '@weir/domain/errors';
import { TABLE_REGISTRY } from '@weir/domain/records/topics';
import type { EventLog, PartitionHandle, Subscription } from '@weir/ports/event-log';
import { untilAborted } from '@weir/runtime/abortable';

export interface Election {
  readonly eventLog: Pick<EventLog, 'consume'>;
  readonly clock: () => number;
  readonly group: string;
  readonly onError: (error: unknown) => void;
  /** Begins the work when this process is elected. Returns a function that resolves when the work has ended, after `handle.signal` has aborted. */
  readonly lead: (handle: PartitionHandle, fence: () => Promise<void>) => () => Promise<void>;
}

/**
 * Takes part in the election of the process that does some work: the member of a consumer group to which partition 0 of the topic `registry` is
 * assigned. The group is used only for this election, so its consumers ignore the records of the topic. `fence` calls `passFence`.
 */
export function takePart({ eventLog, clock, group, onError, lead }: Election): Promise<Subscription> {
  return eventLog.consume({
    topic: TABLE_REGISTRY,
    group,
    onError,
    async open(handle) {
      const close = handle.partition === 0 ? lead(handle, () => passFence(handle, clock)) : async () => undefined;
      return { handle: () => untilAborted(handle.signal), close };
    },
  });
}

/** If the commit of a fence takes longer than this, the fence fails. */
const FENCE_MS_MAX = 5_000;

/**
 * Checks by a commit to the event log that this process is still elected. Rejects with `partition_lost` if another process was elected, and with
 * `event_log_unavailable` if the commit fails or takes longer than `FENCE_MS_MAX`. After such a long commit, the answer is out of date: this
 * process may have been paused, and another process may be elected now.
 */
export async function passFence(handle: Pick<PartitionHandle, 'commit'>, clock: () => number): Promise<void> {
  const askedAt = clock();
  await handle.commit({ offset: 0, metadata: '' });
  if (clock() - askedAt > FENCE_MS_MAX) {
    throw new DependencyError(
      'event_log_unavailable',
      'the event log answered too late: another process may be elected now',
    );
  }
}
