import { watch } from 'node:fs';
import type { Embedded } from './embedded-subject.ts';

/**
 * What ClickHouse does with a data part of a table: it begins to write the part of an insert, it begins to write a merged part, or it has
 * finished a part. The folder of an unfinished part has a temporary name.
 */
export type PartEvent = 'insert begins' | 'merge begins' | 'stored';

const IS_EVENT: Readonly<Record<PartEvent, (folder: string) => boolean>> = {
  'insert begins': (folder) => folder.startsWith('tmp_insert_'),
  'merge begins': (folder) => folder.startsWith('tmp_merge_'),
  // The name of a finished part consists of its partition and its block numbers: `202611_17_17_0`.
  stored: (folder) => /^[^_]+(_\d+){3,4}$/.test(folder),
};

/**
 * Returns a function that waits for the next event of the given kind in this table, and then calls `act`. `act` must be synchronous: some
 * milliseconds later, ClickHouse can have finished the part already.
 */
export async function findParts(
  { client, weir }: Embedded,
  table: string,
): Promise<(event: PartEvent, act: () => void) => Promise<void>> {
  const [row] = await client.sql(
    "SELECT data_paths[1] AS path FROM system.tables WHERE database = 'weir' AND name = {table:String}",
    { table },
  );
  const folder = String(row?.path);
  if (!folder.startsWith(weir.dataDir)) throw new Error(`table ${table} is in ${folder}, not in ${weir.dataDir}`);
  return (event, act) =>
    new Promise((resolve) => {
      const watcher = watch(folder, (_, name) => {
        if (name === null || !IS_EVENT[event](name)) return;
        watcher.close();
        act();
        resolve();
      });
    });
}
