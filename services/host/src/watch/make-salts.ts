import { isDependencyError } from '@weir/domain/errors';
import { utcDay } from '@weir/domain/people/cookieless';
import { SALT_AHEAD_MS } from '@weir/domain/people/salt-times';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';

export interface MakeSaltsDeps {
  readonly registry: Pick<Registry, 'salt'>;
  readonly intervalMs: number;
  readonly clock: () => number;
  readonly logger: Logger;
}

/**
 * Creates the salts (docs/glossary.md) of today and, shortly before midnight, of tomorrow. Otherwise the first requests of a day would wait for
 * the key that is derived from the salt.
 */
export function startMakingSalts({ registry, intervalMs, clock, logger }: MakeSaltsDeps): { close(): void } {
  const make = async (): Promise<void> => {
    try {
      await registry.salt(utcDay(clock()));
      await registry.salt(utcDay(clock() + SALT_AHEAD_MS));
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
