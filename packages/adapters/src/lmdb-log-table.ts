import type { LogTable } from '@weir/ports/event-log';
import type { Database } from 'lmdb';
import { committed, type GroupCommit } from './lmdb-group-commit.ts';

/** Values are `<sequence number> <text>`: the number keeps the order of the puts over a restart. */
export type TableRows = Database<string, [table: string, key: string]>;

export interface TableStore {
  /** Every handle of one table shows the same rows. */
  open(): LogTable;
}

type Listener = (key: string, value: string | undefined) => void;

const KEY_CHARS_MAX = 512;

export function createTableStore(name: string, rows: TableRows, commit: GroupCommit): TableStore {
  const entries = new Map<string, string>();
  const listeners = new Set<Listener>();
  let sequence = 0;

  const stored: { key: string; sequence: number; value: string }[] = [];
  for (const row of rows.getRange({ start: [name, ''], end: [`${name} `, ''] })) {
    const [table, key] = row.key;
    if (table !== name) continue;
    const cut = row.value.indexOf(' ');
    stored.push({ key, sequence: Number(row.value.slice(0, cut)), value: row.value.slice(cut + 1) });
  }
  stored.sort((a, b) => a.sequence - b.sequence);
  for (const row of stored) {
    entries.set(row.key, row.value);
    sequence = row.sequence;
  }

  function apply(key: string, value: string | undefined): void {
    // Deleted first, so that the map's order is the order of each key's last put, as it is after a restart.
    entries.delete(key);
    if (value !== undefined) entries.set(key, value);
    for (const listener of listeners) listener(key, value);
  }

  async function put(key: string, value: string | undefined): Promise<void> {
    if (key.length === 0 || key.length > KEY_CHARS_MAX || key.includes('\0')) {
      throw new RangeError(`a table's key has 1 to ${KEY_CHARS_MAX} chars and no zero byte`);
    }
    await committed(
      commit,
      'event_log_unavailable',
      () => {
        if (value === undefined) void rows.remove([name, key]);
        else void rows.put([name, key], `${++sequence} ${value}`);
      },
      () => apply(key, value),
    );
  }

  return {
    open() {
      const own = new Set<Listener>();
      return {
        entries: () => entries,
        put,
        onChange(listener) {
          own.add(listener);
          listeners.add(listener);
        },
        async close() {
          for (const listener of own) listeners.delete(listener);
        },
      };
    },
  };
}
