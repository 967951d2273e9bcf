import type { EventLog, LogTable } from '@weir/ports/event-log';

/** The tables of the log, for another thread or process, which uses `createOwnedTables` (packages/adapters/src/lmdb/thread/owned-tables.ts). */
export interface ServedTables {
  /** Resolves with the present rows of a table. From then on, each change of the table is passed to `tell`. */
  openTable(name: string): Promise<[key: string, value: string][]>;
  /** Resolves when the change is durable. */
  putRow(name: string, key: string, value: string | undefined): Promise<void>;
  /** After this, `tell` is not called again. */
  close(): void;
}

export function serveTables(
  log: Pick<EventLog, 'openTable'>,
  tell: (name: string, key: string, value: string | undefined) => void,
): ServedTables {
  const told = new Set<LogTable>();
  return {
    async openTable(name) {
      const table = await log.openTable(name);
      told.add(table);
      table.onChange((key, value) => tell(name, key, value));
      return [...table.entries()];
    },
    async putRow(name, key, value) {
      const table = await log.openTable(name);
      await table.put(key, value);
    },
    close() {
      for (const table of told) void table.close();
    },
  };
}
