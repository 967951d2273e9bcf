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
 * Appends outcomes of consecutive raw offsets, and resolves when the log has every one of them. One append at a time, and
 * the same bytes again, from the first that is not known to be stored, until they are: so whatever else lands late can
 * only be a repeat, never a gap (design: exactly once, 1). Rejects with `partition_lost` when the signal aborts.
 */
export async function appendOutcomes(task: AppendOutcomes): Promise<void> {
  let stored = 0;
  for (let attempt = 0; stored < task.outcomes.length; attempt++) {
    assertOwned(task.signal, task.partition);
    const rest = stored === 0 ? task.outcomes : task.outcomes.slice(stored);
    const answers = await task.eventLog.append(TOPIC_ENRICHED, rest);
    const failedAt = answers.findIndex((answer) => answer.status !== 'stored');
    const progress = failedAt === -1 ? rest.length : failedAt;
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
