import type { Database } from 'lmdb';
import { createTableStore, type TableStore } from '../registry/table-store.ts';
import { submitWrite, type WriteQueue } from './lmdb-write-queue.ts';

/** Values have the form `<sequence number> <text>`. The sequence number keeps the order of the puts after a restart. */
export type TableRows = Database<string, [table: string, key: string]>;

export function createLmdbTable(name: string, rows: TableRows, writes: WriteQueue): TableStore {
  const stored: { key: string; sequence: number; value: string }[] = [];
  for (const row of rows.getRange({ start: [name, ''], end: [`${name} `, ''] })) {
    const [table, key] = row.key;
    if (table !== name) continue;
    const cut = row.value.indexOf(' ');
    stored.push({ key, sequence: Number(row.value.slice(0, cut)), value: row.value.slice(cut + 1) });
  }
  stored.sort((a, b) => a.sequence - b.sequence);
  let sequence = stored.at(-1)?.sequence ?? 0;

  return createTableStore(
    stored.map(({ key, value }) => [key, value] as const),
    (key, value, apply) =>
      submitWrite(
        writes,
        'event_log_unavailable',
        () => {
          if (value === undefined) void rows.remove([name, key]);
          else void rows.put([name, key], `${++sequence} ${value}`);
        },
        { apply, size: { keys: 1, bytes: 3 * (key.length + (value?.length ?? 0)) + 64 } },
      ),
  );
}
