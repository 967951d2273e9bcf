import { GROUP_IMPORTS, TABLE_REGISTRY } from '@weir/domain/records/topics';
import type { EventLog, PartitionConsumer, PartitionHandle } from '@weir/ports/event-log';
import { untilAborted } from '../replay/replayer.ts';
import type { ImportTerm } from './import-term.ts';

export interface ImportElectionDeps {
  readonly eventLog: Pick<EventLog, 'consume'>;
  readonly clock: () => number;
  /** Reports a failure of the election that is retried. */
  readonly onError: (error: unknown) => void;
}

export interface ImportElection {
  /** Undefined if another process accepts imports, or if one of its appends can still arrive in the log. */
  term(): ImportTerm | undefined;
  /** Resolves when the running imports have ended. Another process can then be elected. */
  close(): Promise<void>;
}

/**
 * A process that lost the election without knowing it can have passed the fence 6 s before (the session timeout of Kafka). Its append then arrives
 * in the log at most 12 s after the fence: 5 s for the answer of the fence, 1.7 s for the append, and `SETTLE_MS` (append-result.ts).
 */
export const TERM_SETTLE_MS = 10_000;

/**
 * Elects the process that accepts imports: the member of a consumer group to which partition 0 of the topic `registry` is assigned. The group is used
 * only for this election. Without it, two processes could append the same lines, because each knows only its own leases and appends.
 */
export async function startImportElection(deps: ImportElectionDeps): Promise<ImportElection> {
  const { eventLog, clock, onError } = deps;
  let led: { readonly term: ImportTerm; readonly beginsAt: number } | undefined;

  async function open(handle: PartitionHandle): Promise<PartitionConsumer> {
    const { signal } = handle;
    if (handle.partition !== 0) return { handle: () => untilAborted(signal), close: async () => undefined };
    const running = new Set<Promise<unknown>>();
    const term: ImportTerm = {
      fence: () => handle.commit({ offset: 0, metadata: '' }),
      run(task) {
        const ends = task();
        running.add(ends);
        const forget = () => running.delete(ends);
        ends.then(forget, forget);
        return ends;
      },
    };
    const own = { term, beginsAt: clock() + TERM_SETTLE_MS };
    led = own;
    const end = (): void => {
      if (led === own) led = undefined;
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
    term: () => (led !== undefined && clock() >= led.beginsAt ? led.term : undefined),
    close: () => subscription.close(),
  };
}
