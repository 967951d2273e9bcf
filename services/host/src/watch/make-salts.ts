import { isDependencyError } from '@weir/domain/errors';
import { utcDay } from '@weir/domain/people/cookieless';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';

/**
 * How long before midnight the salt of the next day is created. This must be less than one hour: Kafka keeps a salt for 25 hours longer
 * than raw records, which is 24 hours for the day of the salt and one hour for its early creation.
 */
const AHEAD_MS = 5 * 60_000;

export interface MakeSaltsDeps {
  readonly registry: Pick<Registry, 'salt'>;
  readonly intervalMs: number;
  readonly clock: () => number;
  readonly logger: Logger;
}

/**
 * Creates the salts of today and, shortly before midnight, of tomorrow. No request then waits for the key that is derived from
 * a salt.
 */
export function startMakingSalts({ registry, intervalMs, clock, logger }: MakeSaltsDeps): { close(): void } {
  const make = async (): Promise<void> => {
    try {
      await registry.salt(utcDay(clock()));
      await registry.salt(utcDay(clock() + AHEAD_MS));
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      logger.warn({ code: error.code }, 'could not create the salt of the day: requests and the next check try again');
    }
  };
  void make();
  const timer = setInterval(() => void make(), intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
