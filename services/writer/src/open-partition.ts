import type { PartitionConsumer } from '@weir/ports/event-log';
import { openPausedPartition } from './pause/paused-partition.ts';
import { isOver } from './pause/writers-pause.ts';
import { openReopening } from './reopen-partition.ts';
import { readCommitted } from './resume-point.ts';
import { openPartitionWriter, type PartitionWriterDeps } from './write-partition.ts';

/**
 * Opens an assigned partition. If its last commit names a swap (an exchange of all tables) or a backup that is not over, the partition is paused.
 * Otherwise it inserts rows. It never pauses if `pauses` is undefined.
 */
export function openPartition(deps: PartitionWriterDeps): Promise<PartitionConsumer> {
  const { pauses } = deps;
  return openReopening(deps.handle, async (handle) => {
    const swap = readCommitted(handle)?.paused;
    if (pauses === undefined || swap === undefined || isOver(pauses, swap)) {
      return openPartitionWriter({ ...deps, handle });
    }
    return openPausedPartition({ ...deps, handle, pauses, swap, alarmMs: deps.limits.pausedAlarmMs });
  });
}
