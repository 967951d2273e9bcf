import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of a table that has deduplication logs. It moves with the table when tables are exchanged. */
export interface TableFolder {
  readonly uuid: string;
  readonly path: string;
  /** The folder of the deduplication logs. */
  readonly logs: string;
}

/**
 * A part of a table. Its name is `<partition>_<first block>_<last block>_<level>`, then `_<mutation>` if the part was mutated. Each insert
 * gets a new block number, which is counted for all partitions of the table together. A merge keeps the range of the block numbers.
 */
export interface Part {
  readonly name: string;
  readonly partition: string;
  readonly first: number;
  readonly last: number;
  readonly level: number;
  readonly mutation: number | undefined;
}

export interface TableDefinition {
  /** `<database>.<table>`, as in the names of the files. */
  readonly name: string;
  readonly hasWindow: boolean;
}

const PART = /^([^_]+)_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/;
const LOGS = 'deduplication_logs';
const WINDOW = /\bnon_replicated_deduplication_window\s*=\s*[1-9]/;

export function parsePart(name: string): Part | undefined {
  const [, partition, first, last, level, mutation] = PART.exec(name) ?? [];
  if (partition === undefined) return undefined;
  const numbers = { first: Number(first), last: Number(last), level: Number(level) };
  return { name, partition, ...numbers, mutation: mutation === undefined ? undefined : Number(mutation) };
}

/** Whether the blocks of `part` are a subset of the blocks of `whole`. True if they are the same part. */
export function holds(whole: Part, part: Part): boolean {
  return whole.partition === part.partition && whole.first <= part.first && whole.last >= part.last;
}

/** All tables that have deduplication logs. */
export function tableFolders(folder: string): readonly TableFolder[] {
  return storeFolders(folder)
    .map(({ uuid, path }) => ({ uuid, path, logs: join(path, LOGS) }))
    .filter(({ logs }) => existsSync(logs));
}

/** The parts of a table, also those that were merged into other parts and are not removed yet. */
export function partsOf({ path }: TableFolder): readonly Part[] {
  return namesIn(path).flatMap((name) => parsePart(name) ?? []);
}

/** What the file with the definition of a table says. Returns undefined if there is no such file. */
export function readDefinition(folder: string, uuid: string): TableDefinition | undefined {
  for (const database of storeFolders(folder)) {
    for (const file of namesIn(database.path).filter((name) => name.endsWith('.sql'))) {
      const text = readFileSync(join(database.path, file), 'utf8');
      if (!text.includes(`UUID '${uuid}'`)) continue;
      const name = `${databaseName(folder, database.uuid) ?? 'default'}.${file.slice(0, -4)}`;
      return { name, hasWindow: WINDOW.test(text) };
    }
  }
  return undefined;
}

/** Returns undefined for the default database of the engine, which has no file. */
function databaseName(folder: string, uuid: string): string | undefined {
  const metadata = join(folder, 'metadata');
  const files = namesIn(metadata).filter((name) => name.endsWith('.sql'));
  return files.find((name) => readFileSync(join(metadata, name), 'utf8').includes(uuid))?.slice(0, -4);
}

/** The folders of the tables and databases: `store/<first 3 characters of the UUID>/<UUID>`. */
function storeFolders(folder: string): readonly { readonly uuid: string; readonly path: string }[] {
  const store = join(folder, 'store');
  return namesIn(store).flatMap((group) =>
    namesIn(join(store, group)).map((uuid) => ({ uuid, path: join(store, group, uuid) })),
  );
}

/** The names in a folder. Empty if it does not exist: the engine may be dropping the table. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
