import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError, isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';

export type ReadableTables = Pick<Analytics, 'select' | 'userQuery' | 'highestRawOffset'>;

/** All queries of the admin API go through this, so that an answer never mixes tables of two generations. */
export interface SteadyTables {
  /**
   * Resolves with the result of `work`, whose queries all saw the same generation of the tables. It calls `work` again if the tables
   * were exchanged in the meantime, so `work` must only read. Rejects with `generation_changed` if an exchange takes longer than
   * `EXCHANGE_WAIT_MS`.
   */
  read<T>(work: (tables: ReadableTables) => Promise<T>): Promise<T>;
}

const CHECK_EVERY_MS = 50;
const TRIES_MAX = 100;
/** An exchange takes less than a second; reloading large dictionaries may take longer. */
export const EXCHANGE_WAIT_MS = CHECK_EVERY_MS * TRIES_MAX;

export function createSteadyTables(analytics: ReadableTables & Pick<Analytics, 'generation'>): SteadyTables {
  /** The generation that was read last. It may be old: it was the current one at some time before `work`, and none comes back. */
  let known: number | undefined;

  /** Undefined while tables are being exchanged. */
  async function generation(): Promise<number | undefined> {
    try {
      known = await analytics.generation();
      return known;
    } catch (error) {
      if (isDependencyError(error, 'generation_changed')) return undefined;
      throw error;
    }
  }

  return {
    async read(work) {
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const before = known ?? (await generation());
        if (before !== undefined) {
          const outcome = await settled(work(analytics));
          const after = await generation();
          if (after === before) {
            if ('error' in outcome) throw outcome.error;
            return outcome.value;
          }
          if (after !== undefined) continue;
        }
        await pause(CHECK_EVERY_MS);
      }
      const message = `the tables have been exchanged for more than ${EXCHANGE_WAIT_MS / 1000} s: send the request again`;
      throw new DependencyError('generation_changed', message);
    },
  };
}

async function settled<T>(work: Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await work };
  } catch (error) {
    return { error };
  }
}
