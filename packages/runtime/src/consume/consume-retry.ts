import { DependencyError } from '@weir/domain/errors';
import { pauseUnlessAborted } from '../abortable.ts';

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;

/**
 * Waits before the retry that follows `attempt` (counted from 0): 100 ms, doubling to 5 s. Resolves early when the signal
 * aborts; never rejects.
 */
export async function pauseBeforeRetry(attempt: number, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** Math.min(attempt, 10));
  await pauseUnlessAborted(pauseMs, signal);
}

/** Throws `partition_lost` when the partition was revoked: the next owner repeats the work. */
export function assertAssigned(signal: AbortSignal, partition: number): void {
  if (signal.aborted)
    throw new DependencyError(
      'partition_lost',
      `partition ${partition} was revoked: its next owner continues from the commit`,
    );
}

export function describeError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof DependencyError) return { code: error.code, message: `${error.code}: ${error.message}` };
  if (error instanceof Error) return { code: 'bug', message: `${error.name}: ${error.message}` };
  return { code: 'bug', message: String(error) };
}
