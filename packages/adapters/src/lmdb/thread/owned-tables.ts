import type { LogTable } from '@weir/ports/event-log';
import { createTableStore, type TableStore } from '../../registry/table-store.ts';

/** The calls about tables to the thread or process that owns the log. A call that fails rejects with `event_log_unavailable`. */
export interface TableOwner {
  /** Resolves with the present rows. Later changes arrive through `OwnedTables.changeRow`. */
  openTable(name: string): Promise<readonly (readonly [key: string, value: string])[]>;
  /** Resolves when the change is durable. Before it resolves, the same change arrives through `OwnedTables.changeRow`. */
  putRow(name: string, key: string, value: string | undefined): Promise<void>;
}

/** The tables of a log that another thread or process owns. */
export interface OwnedTables {
  openTable(name: string): Promise<LogTable>;
  changeRow(name: string, key: string, value: string | undefined): void;
}

export function createOwnedTables(owner: TableOwner): OwnedTables {
  const tables = new Map<string, Promise<TableStore>>();
  const changed = new Map<string, TableStore['apply']>();

  async function openStore(name: string): Promise<TableStore> {
    /** Changes that arrive before `owner.openTable` resolves. They are applied last, because the stored rows can be older. */
    const early: [key: string, value: string | undefined][] = [];
    changed.set(name, (key, value) => void early.push([key, value]));
    const stored = await owner.openTable(name);
    const store = createTableStore(stored, (key, value) => owner.putRow(name, key, value));
    for (const [key, value] of early) store.apply(key, value);
    changed.set(name, store.apply);
    return store;
  }

  return {
    async openTable(name) {
      let table = tables.get(name);
      if (table === undefined) {
        table = openStore(name);
        tables.set(name, table);
        table.catch(() => tables.delete(name));
      }
      return (await table).open();
    },
    changeRow: (name, key, value) => changed.get(name)?.(key, value),
  };
}
