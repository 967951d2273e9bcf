import { isDependencyError } from '@weir/domain/errors';
import type { Erasure } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { type RepeatedWork, repeatWork } from '../repeat-work.ts';
import { isSwapping } from './request-erasure.ts';
import { type ErasureDeps, isFree, problemText, runErasure, Taken } from './run-erasure.ts';

export interface StartErasuresDeps extends ErasureDeps {
  /** When the last part of a table that a repair has moved away will be removed: see `ControlDeps` in control-deps.ts. */
  readonly detachedUntil: () => number | undefined;
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  /** True if this is the only process, because the event log is embedded. */
  readonly alone: boolean;
  /** A random ID of this process. */
  readonly workerId: string;
  readonly logger: Logger;
  readonly publish?: (() => Promise<void>) | undefined;
}

const LOOK_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 2_000;

/**
 * Carries out the erasures of the registry one after the other, oldest first. If the process ends before an erasure is done, another
 * process with the control role continues it, or the next start of this process.
 */
export function startErasures(deps: StartErasuresDeps): RepeatedWork {
  const { registry, clock, logger } = deps;
  const stop = new AbortController();
  const { signal } = stop;
  let retryAt = 0;

  async function work({ erasureId, siteId }: Erasure): Promise<void> {
    try {
      await runErasure({ ...deps, signal }, erasureId);
      logger.info({ erasure: erasureId, site: siteId }, 'an erasure is complete');
    } catch (error) {
      if (signal.aborted) return;
      retryAt = clock() + RETRY_AFTER_MS;
      if (error instanceof Taken) return;
      const problem = problemText(error);
      const code = isDependencyError(error) ? error.code : undefined;
      logger.error({ erasure: erasureId, code, problem }, 'an erasure stopped and will be tried again');
      await note(erasureId, problem);
    }
  }

  async function note(erasureId: string, problem: string): Promise<void> {
    const erasure = registry.erasure(erasureId);
    try {
      if (erasure !== undefined) await registry.putErasure({ ...erasure, problem });
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      // The registry cannot be written now. The problem was logged above, and the erasure will be tried again.
    }
  }

  async function workOff(): Promise<void> {
    await deps.ready;
    while (!signal.aborted && clock() >= retryAt) {
      const erasure = registry.erasures().find(({ phase }) => phase !== 'done');
      if (erasure === undefined || !isFree(erasure.worker, deps)) return;
      if (isSwapping(registry) || registry.expiry() !== undefined) return;
      await work(erasure);
    }
  }

  const repeated = repeatWork(LOOK_EVERY_MS, stop, workOff, (error) => {
    logger.error({ err: error }, 'erasures cannot be carried out now: retrying');
  });
  registry.onChange(repeated.look);
  return repeated;
}
