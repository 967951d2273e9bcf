import { setTimeout as delay } from 'node:timers/promises';
import { GROUP_IMPORTS, TABLE_REGISTRY } from '@weir/domain/records/topics';
import type { EventLog, PartitionConsumer, PartitionHandle } from '@weir/ports/event-log';
import { untilAborted } from '@weir/runtime/abortable';
import { passFence } from '../background/pass-fence.ts';
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
 * Before each append, a process checks that it is still elected (the fence: pass-fence.ts). The process can lose the election just after this
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
 * Elects the process that accepts imports: the member of a consumer group to which partition 0 of the topic `registry` is assigned. The group is used
 * only for this election. Without an election, two processes could append the same lines, because each knows only its own leases and appends.
 */
export async function startImportElection(deps: ImportElectionDeps): Promise<ImportElection> {
  const { eventLog, clock, onError } = deps;
  let led: { readonly term: ImportTerm; readonly beginsAt: number } | undefined;
  let undecidedSince = clock();

  async function open(handle: PartitionHandle): Promise<PartitionConsumer> {
    const { signal } = handle;
    if (handle.partition !== 0) return { handle: () => untilAborted(signal), close: async () => undefined };
    const running = new Set<Promise<unknown>>();
    const term: ImportTerm = {
      fence: () => passFence(handle, clock),
      run(task) {
        const ends = task();
        running.add(ends);
        const forget = () => running.delete(ends);
        ends.then(forget, forget);
        return ends;
      },
    };
    // Each process commits (`passFence`) before it appends. So if the partition has no commit, no append of another process can be in flight.
    const own = { term, beginsAt: handle.committed === undefined ? clock() : clock() + TERM_SETTLE_MS };
    led = own;
    const end = (): void => {
      if (led !== own) return;
      led = undefined;
      undecidedSince = clock();
    };
    signal.addEventListener('abort', end, { once: true });
    return {
      handle: () => untilAborted(signal),
      async close() {
        end();
        await Promise.allSettled(running);
      },
    };
  }

  const subscription = await eventLog.consume({ topic: TABLE_REGISTRY, group: GROUP_IMPORTS, open, onError });
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
