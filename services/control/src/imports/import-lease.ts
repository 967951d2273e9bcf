import { createSerial, type Serial } from '../serial.ts';

/** One import of a file at a time: who holds it, and the order in which its chunks are dealt with. */
export interface ImportLease {
  readonly lease: string;
  /** Runs one task after the other; the lease does not end while one runs, even when it is released meanwhile. */
  readonly run: Serial;
  /** Nothing is looked up before this time: an append with an unknown outcome may still arrive in the log. */
  settledAt: number;
}

export interface ImportLeases {
  /** `undefined`: another one holds it. */
  take(key: string, lease: string): ImportLease | undefined;
  /** The holder's lease, prolonged. After a restart of Weir nobody holds it, and the first that comes is the holder. */
  prolong(key: string, lease: string): ImportLease | undefined;
  /** Ends the holder's lease as soon as none of its tasks runs and its appends have settled. */
  release(key: string, lease: string): void;
}

/** A holder that was not heard of for this long is gone. */
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
    const serial = createSerial();
    const holder: Holder = { lease: { lease, run, settledAt: 0 }, until: 0, running: 0, released: false };
    function run<T>(task: () => Promise<T>): Promise<T> {
      holder.running += 1;
      return serial(task).finally(() => {
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
    prolong(key, lease) {
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
