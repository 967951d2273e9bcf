import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';
import { assertAssigned, pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';

export interface AppendOutcomes {
  readonly eventLog: EventLog;
  readonly partition: number;
  readonly outcomes: readonly AppendRecord[];
  readonly signal: AbortSignal;
  /** Called when the first `count` outcomes are in the log. */
  onStored(count: number): void;
  onFailure(reason: string): void;
}

/**
 * Maximum size of one append. A log can refuse a larger append (Kafka refuses more than 15 MiB for a partition), and a retry would not
 * help. The raw records of a batch have at most 4 MiB, but their outcomes can be larger: `1e18` has 4 bytes in the record and 19 bytes in
 * the row.
 */
const APPEND_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Appends the outcomes of consecutive raw offsets (offsets in `events.raw`), and resolves when the log has all of them. Only one append is in flight.
 * After a failure or an unknown result, the same bytes are appended again, from the first outcome that is not known to be stored. If the log stores
 * the earlier append after all, some outcomes are in the log twice, but none is missing (docs/exactly-once.md, section 2). Rejects with
 * `partition_lost` when the signal aborts.
 */
export async function appendOutcomes(task: AppendOutcomes): Promise<void> {
  let stored = 0;
  for (let attempt = 0; stored < task.outcomes.length; attempt++) {
    assertAssigned(task.signal, task.partition);
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

/** The end (exclusive) of the slice that begins at `first`. A slice has at least one outcome. */
function endOfSlice(outcomes: readonly AppendRecord[], first: number): number {
  let bytes = 0;
  for (let i = first; i < outcomes.length; i++) {
    bytes += (outcomes[i] as AppendRecord).value.byteLength;
    if (bytes > APPEND_BYTES_MAX && i > first) return i;
  }
  return outcomes.length;
}
