import type { LogTable } from '@weir/ports/event-log';

/** A table that is held in the memory of this process. */
export interface TableStore {
  /** Opens a handle. All handles of one table show the same rows. */
  open(): LogTable;
  /** Applies a change that is durable. */
  apply(key: string, value: string | undefined): void;
}

/** Makes a change durable, then calls `apply`. Several calls are applied in the order of the calls. Rejects with `event_log_unavailable`. */
export type WriteRow = (key: string, value: string | undefined, apply: () => void) => Promise<void>;

type Listener = (key: string, value: string | undefined) => void;

const KEY_CHARS_MAX = 512;

/** `stored`: the stored rows, in the order in which their keys were last put. */
export function createTableStore(stored: Iterable<readonly [string, string]>, write: WriteRow): TableStore {
  const entries = new Map(stored);
  const listeners = new Set<Listener>();

  function apply(key: string, value: string | undefined): void {
    // Deletes the key first, so that the map is in the order of the last put of each key. After a restart, it has the same order.
    entries.delete(key);
    if (value !== undefined) entries.set(key, value);
    for (const listener of listeners) listener(key, value);
  }

  async function put(key: string, value: string | undefined): Promise<void> {
    if (key.length === 0 || key.length > KEY_CHARS_MAX || key.includes('\0')) {
      throw new RangeError(`the key of a table row must have 1 to ${KEY_CHARS_MAX} characters and no zero byte`);
    }
    await write(key, value, () => apply(key, value));
  }

  return {
    apply,
    open() {
      const own = new Set<Listener>();
      return {
        entries: () => entries,
        put,
        onChange(listener) {
          own.add(listener);
          listeners.add(listener);
        },
        // Nothing to wait for: this process applies each change before it can read a later record of the log (lmdb-thread-log.ts).
        catchUp: async () => undefined,
        unreadMs: () => 0,
        async close() {
          for (const listener of own) listeners.delete(listener);
        },
      };
    },
  };
}
