import { isDependencyError } from '@weir/domain/errors';
import type { Registry } from '@weir/ports/registry';

/** Stores when API keys and tokens of viewers were last used. */
export interface TokenUses {
  /** Notes a use now. Returns at once: the time is stored later, at most once an hour for each token. */
  note(siteId: string, id: string): void;
  /** Resolves when all running writes have ended. */
  idle(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** If a use cannot be stored because the event log is unavailable, the next attempt is made after this time at the earliest. */
const RETRY_MS = 60_000;

export function createTokenUses({
  registry,
  clock,
}: {
  readonly registry: Pick<Registry, 'tokenUse' | 'putTokenUse'>;
  readonly clock: () => number;
}): TokenUses {
  /** For each token whose use is not stored, the time of the next attempt. */
  const attempts = new Map<string, number>();
  const running = new Set<Promise<void>>();

  async function store(siteId: string, id: string, at: number): Promise<void> {
    try {
      await registry.putTokenUse({ siteId, id, at });
      attempts.delete(id);
    } catch (error) {
      // The request that used the token must not fail because its use cannot be stored. A bug still ends the process.
      if (!isDependencyError(error)) throw error;
    }
  }

  return {
    note(siteId, id) {
      const now = clock();
      const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
      // Another process, whose clock is ahead, may have stored a later hour.
      if ((registry.tokenUse(id)?.at ?? -1) >= hour || (attempts.get(id) ?? 0) > now) return;
      attempts.set(id, now + RETRY_MS);
      const task = store(siteId, id, hour).finally(() => running.delete(task));
      running.add(task);
    },
    async idle() {
      await Promise.all(running);
    },
  };
}
