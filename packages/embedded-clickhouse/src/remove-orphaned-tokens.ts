import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** The name of a part: `<partition>_<first block>_<last block>_<level>`, then `_<mutation>` if the part was mutated. */
const PART = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/;
const LOG = /^deduplication_log_(\d+)\.txt$/;
const ADDED = '1';

/**
 * Removes the token of an insert that was killed. An insert first writes its token into the table's deduplication log and then
 * renames its part. If it is killed between these steps, the engine drops each repeat of the insert as a duplicate, although it
 * does not have the rows. So if the last token of a table belongs to a part that neither exists nor was merged into another part,
 * this removes the token from the log. Only the last token can be affected, because one insert at a time does both steps.
 * The caller must have locked the folder, and must reopen the engine afterwards. Returns the number of tables that were repaired.
 */
export function removeOrphanedTokens(folder: string): number {
  const store = join(folder, 'store');
  if (!existsSync(store)) return 0;
  const tables = readdirSync(store).flatMap((group) =>
    readdirSync(join(store, group)).map((id) => join(store, group, id)),
  );
  return tables.filter(removeOrphanedToken).length;
}

function removeOrphanedToken(table: string): boolean {
  const log = lastLog(join(table, 'deduplication_logs'));
  if (log === undefined) return false;
  const lines = log.text.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  const [operation, part = ''] = last.split('\t');
  if (operation !== ADDED || readdirSync(table).some((name) => holds(name, part))) return false;
  truncateSync(log.file, Buffer.byteLength(log.text.slice(0, log.text.lastIndexOf(last))));
  return true;
}

/** The newest log that is not empty. When a log is full, ClickHouse creates the next one, which is empty at first. */
function lastLog(folder: string): { readonly file: string; readonly text: string } | undefined {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter((name) => LOG.test(name));
  const number = (name: string): number => Number(LOG.exec(name)?.[1]);
  for (const name of names.toSorted((a, b) => number(b) - number(a))) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    if (text.trim() !== '') return { file, text };
  }
  return undefined;
}

function holds(name: string, part: string): boolean {
  const [, partition, first, last] = PART.exec(name) ?? [];
  const [, ofPartition, ofFirst, ofLast] = PART.exec(part) ?? [];
  return (
    partition !== undefined &&
    partition === ofPartition &&
    Number(first) <= Number(ofFirst) &&
    Number(last) >= Number(ofLast)
  );
}
