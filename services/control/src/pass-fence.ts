import { DependencyError } from '@weir/domain/errors';
import type { PartitionHandle } from '@weir/ports/event-log';

/** The maximum time between the call of a fence and the write that follows it. */
const FENCE_MS_MAX = 5_000;

/**
 * Resolves if this process is still elected: its commit is accepted. Rejects with `partition_lost` if not, with `event_log_unavailable` if this is not
 * known, and also if the answer comes late: a process that was paused meanwhile can have lost the election, and must not write.
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
