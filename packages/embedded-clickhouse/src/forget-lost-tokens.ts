import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** `<partition>_<first block>_<last block>_<level>`, and the mutation where there was one. */
const PART = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/;
const LOG = /^deduplication_log_(\d+)\.txt$/;
const ADDED = '1';

/**
 * An insert writes its token into the table's log of tokens, and then gives its part its name. Killed in between, the engine takes
 * the same insert for a repeat ever after and drops it, though it has none of its rows. So where the last token of a table
 * belongs to a part that is not there, in itself or merged into another, the token is taken out of the log. Only the last can:
 * the two steps are one insert's at a time. The folder must be the caller's alone, and the engine opened again after it.
 * Returns how many tables had one.
 */
export function forgetLostTokens(folder: string): number {
  const store = join(folder, 'store');
  if (!existsSync(store)) return 0;
  const tables = readdirSync(store).flatMap((group) =>
    readdirSync(join(store, group)).map((id) => join(store, group, id)),
  );
  return tables.filter(forgetLostToken).length;
}

function forgetLostToken(table: string): boolean {
  const log = lastLog(join(table, 'deduplication_logs'));
  if (log === undefined) return false;
  const lines = log.text.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  const [operation, part = ''] = last.split('\t');
  if (operation !== ADDED || readdirSync(table).some((name) => holds(name, part))) return false;
  truncateSync(log.file, Buffer.byteLength(log.text.slice(0, log.text.lastIndexOf(last))));
  return true;
}

/** The newest one that has lines: a full log is followed by an empty one. */
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
