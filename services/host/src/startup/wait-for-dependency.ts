import { setTimeout as pause } from 'node:timers/promises';
import { type DependencyErrorCode, isDependencyError } from '@weir/domain/errors';
import { abortable } from '@weir/runtime/abortable';
import type { Logger } from '@weir/runtime/logger';

const RETRY_EVERY_MS = 500;
const LOG_EVERY_MS = 10_000;

export interface WaitOptions {
  readonly engine: string;
  /** The code of the errors after which `open` is called again: the engine is unavailable, and a later attempt can succeed. */
  readonly unavailableCode: DependencyErrorCode;
  /** Called after the first failed attempt, for example to start a server that answers 503. Its result is closed when the wait ends. */
  readonly whileWaiting: () => Promise<{ close(): Promise<unknown> }>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly stop: AbortSignal;
}

/**
 * Opens an engine. Retries while the engine is unavailable, and logs a warning every 10 s. Rejects with any other error of `open` or
 * `whileWaiting`. Rejects when `stop` aborts.
 */
export async function waitForDependency<T>(open: () => Promise<T>, waiting: WaitOptions): Promise<T> {
  const { engine, unavailableCode, logger, stop } = waiting;
  let standIn: { close(): Promise<unknown> } | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      try {
        return await abortable(open(), stop);
      } catch (error) {
        if (!isDependencyError(error, unavailableCode)) throw error;
        if (performance.now() - loggedAt >= LOG_EVERY_MS) {
          loggedAt = performance.now();
          logger.warn({ engine, code: error.code, reason: error.message }, `waiting for ${engine}`);
        }
      }
      standIn ??= await waiting.whileWaiting();
      await pause(RETRY_EVERY_MS, undefined, { signal: stop });
    }
  } finally {
    await standIn?.close();
  }
}
