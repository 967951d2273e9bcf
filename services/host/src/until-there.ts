import { setTimeout as pause } from 'node:timers/promises';
import { type DependencyErrorCode, isDependencyError } from '@weir/domain/errors';
import type { Logger } from '@weir/runtime/logger';
import { unlessStopped } from './unless-stopped.ts';

const RETRY_EVERY_MS = 500;
const SAY_EVERY_MS = 10_000;

export interface Waiting {
  readonly engine: string;
  /** The code of an engine that is away. */
  readonly away: DependencyErrorCode;
  /** Opened when the engine turns out to be away, closed when the waiting is over. */
  readonly meanwhile: () => Promise<{ close(): Promise<unknown> }>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly stop: AbortSignal;
}

/**
 * Opens an engine, again and again while it is away, and says so. Rejects with any other error of `open` or `meanwhile`, and with
 * the reason of `stop`.
 */
export async function untilThere<T>(open: () => Promise<T>, waiting: Waiting): Promise<T> {
  const { engine, away, logger, stop } = waiting;
  let meanwhile: { close(): Promise<unknown> } | undefined;
  let saidAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      try {
        return await unlessStopped(open(), stop);
      } catch (error) {
        if (!isDependencyError(error, away)) throw error;
        if (performance.now() - saidAt >= SAY_EVERY_MS) {
          saidAt = performance.now();
          logger.warn({ engine, code: error.code, reason: error.message }, `waiting for ${engine}`);
        }
      }
      meanwhile ??= await waiting.meanwhile();
      await pause(RETRY_EVERY_MS, undefined, { signal: stop });
    }
  } finally {
    await meanwhile?.close();
  }
}
