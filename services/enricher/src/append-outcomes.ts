import { TOPIC_ENRICHED } from '@weir/domain/topics';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';
import { assertOwned, pauseBeforeRetry } from '@weir/runtime/consume-retry';

export interface AppendOutcomes {
  readonly eventLog: EventLog;
  readonly partition: number;
  readonly outcomes: readonly AppendRecord[];
  readonly signal: AbortSignal;
  /** So many of the outcomes, from the first, are in the log by now. */
  onStored(count: number): void;
  onFailure(reason: string): void;
}

/**
 * Of one append: a log may refuse more than it takes at once (Kafka: 15 MiB for a partition), and would do so every time. The records
 * of a batch are at most 4 MiB, but `1e18` is 4 bytes of them and 19 of its outcome.
 */
const APPEND_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Appends outcomes of consecutive raw offsets, and resolves when the log has every one of them. One append at a time, and
 * the same bytes again, from the first that is not known to be stored, until they are: so whatever else lands late can
 * only be a repeat, never a gap (design: exactly once, 1), wherever one append ends and the next begins. Rejects with
 * `partition_lost` when the signal aborts.
 */
export async function appendOutcomes(task: AppendOutcomes): Promise<void> {
  let stored = 0;
  for (let attempt = 0; stored < task.outcomes.length; attempt++) {
    assertOwned(task.signal, task.partition);
    const end = endOfSlice(task.outcomes, stored);
    const whole = stored === 0 && end === task.outcomes.length;
    const slice = whole ? task.outcomes : task.outcomes.slice(stored, end);
    const answers = await task.eventLog.append(TOPIC_ENRICHED, slice);
    const failedAt = answers.findIndex((answer) => answer.status !== 'stored');
    const progress = failedAt === -1 ? slice.length : failedAt;
    if (progress > 0) {
      stored += progress;
      attempt = 0;
      task.onStored(stored);
    }
    const failure = answers[failedAt];
    if (failure === undefined || failure.status === 'stored') continue;
    task.onFailure(`append ${failure.status}: ${failure.reason}`);
    await pauseBeforeRetry(attempt, task.signal);
  }
}

/** One past the last outcome that goes along with the one at `first`: one outcome at least. */
function endOfSlice(outcomes: readonly AppendRecord[], first: number): number {
  let bytes = 0;
  for (let i = first; i < outcomes.length; i++) {
    bytes += (outcomes[i] as AppendRecord).value.byteLength;
    if (bytes > APPEND_BYTES_MAX && i > first) return i;
  }
  return outcomes.length;
}
