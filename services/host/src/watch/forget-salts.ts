import { isDependencyError } from '@weir/domain/errors';
import { utcDay } from '@weir/domain/people/cookieless';
import { SALT_REMOVAL_LAG_MS } from '@weir/domain/people/salt-times';
import { keptFrom } from '@weir/ports/kept-from';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';

export interface ForgetSaltsDeps {
  readonly registry: Registry;
  /** Resolves with the time at which the oldest unprocessed raw record was appended. `Infinity` if there is none, and always with Kafka. */
  readonly oldestUnreadAt: () => Promise<number>;
  readonly rawRetentionMs: number;
  readonly intervalMs: number;
  readonly clock: () => number;
  /** A clock that other hosts use too, so that a wrong clock of this host is noticed. `Infinity` if there is none. */
  readonly sharedClock: () => Promise<number>;
  readonly logger: Logger;
}

const CLOCK_AHEAD_MS_MAX = 5 * 60_000;

/**
 * Deletes the salt of a day when no raw record of that day can be replayed any more (docs/api.md, Cookieless mode). The clock of this host and
 * the shared clock must both have reached this time, because all hosts lose a salt that one host deletes. Runs now and at each interval.
 */
export function startForgettingSalts(deps: ForgetSaltsDeps): { close(): void } {
  const { registry, oldestUnreadAt, rawRetentionMs, intervalMs, clock, sharedClock, logger } = deps;
  const forget = async (): Promise<void> => {
    try {
      const [own, shared] = [clock(), await sharedClock()];
      if (own - shared > CLOCK_AHEAD_MS_MAX) {
        logger.error(
          { aheadSeconds: Math.round((own - shared) / 1000) },
          'the clock of this host is ahead of the clock of Redis: correct the clock that is wrong. Salts are removed by the clock of Redis',
        );
      }
      const recordsFrom = keptFrom(Math.min(own, shared), rawRetentionMs, await oldestUnreadAt());
      await registry.removeSaltsBefore(utcDay(recordsFrom - SALT_REMOVAL_LAG_MS));
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      logger.warn({ code: error.code }, 'could not remove expired salts: the next check tries again');
    }
  };
  void forget();
  const timer = setInterval(() => void forget(), intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
