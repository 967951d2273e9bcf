import { createMutex, type RunExclusive } from '../registry/mutex.ts';

/**
 * The exclusive right to import a file. Only one client has it at a time, and the chunks of that client are processed one after
 * the other.
 */
export interface ImportLease {
  readonly lease: string;
  /** Runs one task after the other. The lease does not end while a task runs, even if it is released meanwhile. */
  readonly run: RunExclusive;
  /**
   * Until this time (Unix milliseconds), an append with an unknown result may still arrive in the log. Before this time, the import does not search
   * for hits that the log does not have.
   */
  settledAt: number;
  /**
   * The ledger is the row of the registry with the progress of this import: the numbers of the lines that are done or pending. The ledger is old if
   * the tables already have hits of later lines. This happens if an older dump of the registry was restored. Every chunk is then compared with the
   * tables. Undefined until the first comparison, which happens at the first chunk with hits of later lines.
   */
  isLedgerOld?: boolean;
}

export interface ImportLeases {
  /** Gives the lease to a client. Returns undefined if a client has it already, or if there are too many leases. */
  take(key: string, lease: string): ImportLease | undefined;
  /**
   * Extends the lease, or takes it again if it has ended. Returns undefined if another client has the lease, or if there are too many leases.
   * Leases are only in memory: after a restart of Weir, the first client that asks gets the lease.
   */
  extend(key: string, lease: string): ImportLease | undefined;
  /** Ends the lease as soon as no task runs and no append with an unknown result can still arrive in the log. */
  release(key: string, lease: string): void;
}

/** A lease ends when its client has sent nothing for this long. */
const LEASE_MS = 10_000;
const LEASES_MAX = 1000;

interface Holder {
  readonly lease: ImportLease;
  until: number;
  running: number;
  released: boolean;
}

export function createImportLeases(clock: () => number): ImportLeases {
  const held = new Map<string, Holder>();
  const forgetExpired = (): void => {
    for (const [key, { until, running }] of held) if (until <= clock() && running === 0) held.delete(key);
  };
  const endLater = (holder: Holder): void => {
    holder.until = holder.released ? holder.lease.settledAt : clock() + LEASE_MS;
  };
  const take = (key: string, lease: string): ImportLease | undefined => {
    forgetExpired();
    if (held.has(key) || held.size >= LEASES_MAX) return undefined;
    const runExclusive = createMutex();
    const holder: Holder = { lease: { lease, run, settledAt: 0 }, until: 0, running: 0, released: false };
    function run<T>(task: () => Promise<T>): Promise<T> {
      holder.running += 1;
      return runExclusive(task).finally(() => {
        holder.running -= 1;
        endLater(holder);
      });
    }
    endLater(holder);
    held.set(key, holder);
    return holder.lease;
  };
  return {
    take,
    extend(key, lease) {
      const holder = held.get(key);
      if (holder?.lease.lease !== lease || holder.released) return take(key, lease);
      endLater(holder);
      return holder.lease;
    },
    release(key, lease) {
      const holder = held.get(key);
      if (holder?.lease.lease !== lease) return;
      holder.released = true;
      endLater(holder);
    },
  };
}
