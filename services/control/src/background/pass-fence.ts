import { DependencyError } from '@weir/domain/errors';
import type { PartitionHandle } from '@weir/ports/event-log';

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
