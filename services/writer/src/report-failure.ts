import { isDependencyError } from '@weir/domain/errors';
import { describeError } from '@weir/runtime/consume/consume-retry';
import type { AssignedPartition } from '@weir/runtime/consume/run-consumer';
import type { Logger } from '@weir/runtime/logger';

/** About two minutes of retries. A dependency that is unavailable for longer may need an operator. */
const TRIES_BEFORE_ALARM = 30;

/**
 * Reports a failure after which the writer retries. Raises an alarm if retries alone may not help: if the disk is full, if an engine has refused a
 * request or has damaged data, after a bug, and in a long outage. `retries` is the number of retries before this failure.
 */
export function reportFailure(
  error: unknown,
  retries: number,
  { handle, metrics, progress, logger }: AssignedPartition & { readonly logger: Logger },
): void {
  const { partition } = handle;
  const { code, message } = describeError(error);
  const transient = ['analytics_unavailable', 'event_log_unavailable', 'generation_changed'].includes(code);
  const isFull = isDependencyError(error) && error.isFull;
  metrics.failure(partition, code);
  progress.failed(message);
  if ((!transient || isFull || retries >= TRIES_BEFORE_ALARM) && progress.raise(message)) metrics.alarm(partition);
  logger[transient ? 'warn' : 'error']({ partition, code, err: error }, 'writer: retrying');
}
