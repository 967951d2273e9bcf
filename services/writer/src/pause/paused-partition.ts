import { assertAssigned } from '@weir/runtime/consume/consume-retry';
import type { AssignedPartition } from '@weir/runtime/consume/run-consumer';
import type { Logger } from '@weir/runtime/logger';
import type { ReopenableConsumer } from '../reopen-partition.ts';
import { isOver, type WritersPauses } from './writers-pause.ts';

/**
 * A swap (an exchange of all tables) or a backup waits at most 60 s until the writers pause. After that, it usually takes seconds. If a pause takes
 * longer than `PAUSED_ALARM_MS`, probably no process works on the swap or backup any more, so an operator must act.
 */
const PAUSED_ALARM_MS = 120_000;

export interface PausedPartitionDeps extends AssignedPartition {
  readonly pauses: WritersPauses;
  readonly logger: Logger;
  readonly swap: number;
  /** The duration of a pause after which an alarm is raised. `PAUSED_ALARM_MS` if undefined. */
  readonly alarmMs: number | undefined;
}

/**
 * Opens a paused partition. Its `handle` waits until the swap or backup is over. Then `mustReopen` returns true, so that the partition is opened
 * again.
 */
export function openPausedPartition(deps: PausedPartitionDeps): ReopenableConsumer {
  const { handle, pauses, swap, progress, metrics, logger, alarmMs = PAUSED_ALARM_MS } = deps;
  const { partition, signal } = handle;
  let over = false;
  let closed = false;
  let ended: () => void = () => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });

  const check = (): void => {
    if (over || closed || !isOver(pauses, swap)) return;
    over = true;
    progress.recovered();
    logger.info({ partition, swap }, 'writer: the swap is over');
    stop();
    handle.wake();
  };
  const stopListening = pauses.onWritersPause(check);
  const alarm = setTimeout(() => {
    if (progress.raise(pausedText(swap, alarmMs))) metrics.alarm(partition);
  }, alarmMs);

  function stop(): void {
    stopListening();
    clearTimeout(alarm);
    signal.removeEventListener('abort', stop);
    ended();
  }
  signal.addEventListener('abort', stop);
  logger.info({ partition, swap }, 'writer: paused, until the tables are exchanged or frozen');
  check();

  return {
    async handle() {
      await end;
      assertAssigned(signal, partition);
    },
    mustReopen: () => over,
    async close() {
      closed = true;
      stop();
    },
  };
}

function pausedText(swap: number, ms: number): string {
  return (
    `paused for swap ${swap} for more than ${ms / 1000} s, and nothing is written: the process that exchanges the tables is missing. ` +
    'Start the control role: it continues or ends the swap'
  );
}
