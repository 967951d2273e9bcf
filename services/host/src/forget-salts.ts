import { utcDay } from '@weir/domain/cookieless';
import { isDependencyError } from '@weir/domain/errors';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';

/** The log removes a record within a minute after its time. */
const REMOVAL_LAG_MS = 2 * 60_000;

export interface ForgetSaltsDeps {
  readonly registry: Registry;
  readonly rawRetentionMs: number;
  readonly intervalMs: number;
  readonly clock: () => number;
  readonly logger: Logger;
}

/** decisions.md, POST /api/collect: a day's salt "is deleted once no raw record of that day can be replayed". Now and every so often. */
export function startForgettingSalts(deps: ForgetSaltsDeps): { close(): void } {
  const { registry, rawRetentionMs, intervalMs, clock, logger } = deps;
  const forget = async (): Promise<void> => {
    try {
      await registry.removeSaltsBefore(utcDay(clock() - rawRetentionMs - REMOVAL_LAG_MS));
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      logger.warn({ code: error.code }, 'salts could not be removed; the next check tries again');
    }
  };
  void forget();
  const timer = setInterval(() => void forget(), intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
