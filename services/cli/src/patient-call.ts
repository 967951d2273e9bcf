import { pauseUnlessAborted } from '@weir/runtime/abortable';
import { AdminRefusal } from './admin-client.ts';
import { CliError, EXIT } from './exit-codes.ts';

const PATIENCE_MS = 120_000;
const PAUSE_MS_MAX = 5000;

export interface Patience {
  readonly clock: () => number;
  readonly onWait: (reason: string) => void;
  readonly interrupted: AbortSignal;
  /** The error after an interruption. */
  readonly stopped?: (error: Error) => CliError;
}

/**
 * Retries a call with backoff while Weir is unreachable, answers 503, or asks to retry later. Rejects with the last error after
 * two minutes. If the call fails after `interrupted` has aborted, rejects with the error of `stopped`. The call must be idempotent.
 */
export async function patientCall<T>(
  call: () => Promise<T>,
  { clock, onWait, interrupted, stopped = stoppedWaiting }: Patience,
): Promise<T> {
  const deadline = clock() + PATIENCE_MS;
  for (let pauseMs = 200; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await call();
    } catch (error) {
      if (!interrupted.aborted) {
        if (!isPassing(error) || clock() >= deadline) throw error;
        const waitMs = error instanceof AdminRefusal ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
        onWait(error.message);
        await pauseUnlessAborted(Math.max(waitMs, pauseMs), interrupted);
      }
      if (interrupted.aborted) throw stopped(error as Error);
    }
  }
}

function stoppedWaiting(error: Error): CliError {
  return new CliError(`interrupted while waiting: ${error.message}`, EXIT.interrupted);
}

function isPassing(error: unknown): error is CliError {
  if (error instanceof AdminRefusal) return error.status === 503 || error.retryAfterSeconds !== undefined;
  return error instanceof CliError && error.exitCode === EXIT.unreachable;
}
