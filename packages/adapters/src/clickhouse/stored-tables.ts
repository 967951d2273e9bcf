import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface StoredTables {
  readonly tables: readonly string[];
  readonly dictionaries: readonly string[];
}

/** Reads the names of the tables and dictionaries from `stored-tables.json`, in the order of the file. */
export async function readStoredTables(migrationsDir: string): Promise<StoredTables> {
  const text = await readFile(join(migrationsDir, 'stored-tables.json'), 'utf8');
  const { tables, dictionaries } = JSON.parse(text) as {
    readonly tables: readonly { readonly name: string }[];
    readonly dictionaries: readonly string[];
  };
  return { tables: tables.map(({ name }) => name), dictionaries };
}
