import { isDependencyError } from '@weir/domain/errors';
import type { Erasure } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { isSwapping } from './request-erasure.ts';
import { type ErasureDeps, runErasure, Taken } from './run-erasure.ts';

export interface StartErasuresDeps extends ErasureDeps {
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  /** This is the only process: the event log is embedded. */
  readonly alone: boolean;
  /** Random; names this process. */
  readonly workerId: string;
  readonly logger: Logger;
}

export interface RunningErasures {
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 2_000;
/** A process that has not reported for this time has ended. */
const WORKER_LOST_MS = 30_000;
const PROBLEM_CHARS_MAX = 300;

/**
 * Works off the erasures of the registry, one after the other, oldest first. An erasure that a process has left unfinished is continued by the next
 * process with the control role.
 */
export function startErasures(deps: StartErasuresDeps): RunningErasures {
  const { registry, clock, logger, alone, workerId } = deps;
  const stop = new AbortController();
  const { signal } = stop;
  let retryAt = 0;
  let working: Promise<void> | undefined;

  const isFree = ({ worker }: Erasure): boolean =>
    worker === undefined || worker.id === workerId || alone || clock() - worker.at > WORKER_LOST_MS;

  async function work({ erasureId, siteId }: Erasure): Promise<void> {
    try {
      await runErasure({ ...deps, signal }, erasureId);
      logger.info({ erasure: erasureId, site: siteId }, 'an erasure is complete');
    } catch (error) {
      if (signal.aborted) return;
      retryAt = clock() + RETRY_AFTER_MS;
      if (error instanceof Taken) return;
      // An error message of ClickHouse can contain the whole statement, which can have several megabytes.
      const problem = (error instanceof Error ? error.message : String(error)).slice(0, PROBLEM_CHARS_MAX);
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
      // The log has the problem already.
    }
  }

  async function workOff(): Promise<void> {
    await deps.ready;
    while (!signal.aborted && clock() >= retryAt) {
      const erasure = registry.erasures().find(({ phase }) => phase !== 'done');
      if (erasure === undefined || !isFree(erasure) || isSwapping(registry)) return;
      await work(erasure);
    }
  }

  function look(): void {
    if (signal.aborted || working !== undefined) return;
    working = workOff()
      .catch((error: unknown) => {
        if (!signal.aborted) logger.error({ err: error }, 'erasures cannot be worked off');
      })
      .finally(() => {
        working = undefined;
      });
  }

  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  registry.onChange(look);
  look();
  return {
    async close() {
      stop.abort();
      clearInterval(timer);
      await working;
    },
  };
}
