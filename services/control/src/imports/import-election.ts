import { setTimeout as delay } from 'node:timers/promises';
import { GROUP_IMPORTS } from '@weir/domain/records/topics';
import type { EventLog, PartitionHandle } from '@weir/ports/event-log';
import { takePart } from '../background/election.ts';
import type { ImportTerm } from './import-term.ts';

export interface ImportElectionDeps {
  readonly eventLog: Pick<EventLog, 'consume'>;
  readonly clock: () => number;
  /** Called with the error when the election fails. The election is then retried. */
  readonly onError: (error: unknown) => void;
}

export interface ImportElection {
  /**
   * Resolves with undefined if another process accepts imports. Waits at most `DECIDED_WITHIN_MS` while the election is not decided, and at most
   * `TERM_SETTLE_MS` while an append of the process that was elected before can still arrive in the log. `signal` ends the wait.
   */
  term(signal: AbortSignal): Promise<ImportTerm | undefined>;
  /** Resolves when the running imports have ended. Another process can then be elected. */
  close(): Promise<void>;
}

/**
 * Before each append, a process checks that it is still elected (the fence: election.ts). The process can lose the election just after this
 * check. Its append then arrives in the log at most 12 s after the check began: `FENCE_MS_MAX` (5 s) for the check, 1.7 s for the append (its time
 * limit on Kafka), and `SETTLE_MS` (5 s, append-result.ts).
 */
const TERM_SETTLE_MS = 12_000;
/**
 * If the election does not give a term to a process within this time, the process answers that another process accepts imports. The time begins
 * when the process joins the consumer group, and again when it loses its term.
 */
export const DECIDED_WITHIN_MS = 20_000;
const POLL_MS = 50;

/**
 * Elects the process that accepts imports (election.ts). Without an election, two processes could append the same lines, because each knows only its
 * own leases and appends.
 */
export async function startImportElection(deps: ImportElectionDeps): Promise<ImportElection> {
  const { clock } = deps;
  let led: { readonly term: ImportTerm; readonly beginsAt: number } | undefined;
  let undecidedSince = clock();

  function lead({ signal, committed }: PartitionHandle, fence: () => Promise<void>) {
    const running = new Set<Promise<unknown>>();
    const term: ImportTerm = {
      fence,
      run(task) {
        const ends = task();
        running.add(ends);
        const forget = () => running.delete(ends);
        ends.then(forget, forget);
        return ends;
      },
    };
    // Each process commits (the fence) before it appends. So if the partition has no commit, no append of another process can be in flight.
    const own = { term, beginsAt: committed === undefined ? clock() : clock() + TERM_SETTLE_MS };
    led = own;
    const end = (): void => {
      if (led !== own) return;
      led = undefined;
      undecidedSince = clock();
    };
    signal.addEventListener('abort', end, { once: true });
    return async () => {
      end();
      await Promise.allSettled(running);
    };
  }

  const subscription = await takePart({ ...deps, group: GROUP_IMPORTS, lead });
  return {
    async term(signal) {
      const isUndecided = (): boolean =>
        led === undefined ? clock() < undecidedSince + DECIDED_WITHIN_MS : clock() < led.beginsAt;
      while (isUndecided() && !signal.aborted) await delay(POLL_MS);
      return isUndecided() ? undefined : led?.term;
    },
    close: () => subscription.close(),
  };
}
