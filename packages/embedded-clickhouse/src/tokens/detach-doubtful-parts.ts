import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { AcceptedTable } from './accepted-blocks.ts';
import { doubtfulParts } from './doubtful-parts.ts';
import { type Part, partsOf, readDefinition, type TableFolder } from './table-folders.ts';
import { readTokens, syncFolder } from './token-log.ts';

/** The parts of one table with rows of inserts that were never acknowledged: those that were moved away, and those that stay. */
export interface DetachedParts {
  /** `<database>.<table>`. */
  readonly table: string;
  readonly detached: readonly string[];
  /** Parts that stay, although their rows may be stored twice. */
  readonly kept: readonly string[];
}

/** The engine ignores this folder of a table, except for statements that name it. */
export const DETACHED = 'detached';
export const PREFIX = 'unacknowledged_';

/**
 * Moves the parts of a table whose insert was never acknowledged to the folder `detached` of the table. After a loss of power, such a part
 * can be on the disk without its deduplication token. The client repeats the insert, and the engine would store the rows a second time. The
 * engine must be closed.
 */
export function detachDoubtfulParts(
  folder: string,
  table: TableFolder,
  accepted: AcceptedTable,
): DetachedParts | undefined {
  const { entries } = readTokens(table, accepted.tokensFrom);
  const withToken = entries.filter(({ isAdded }) => isAdded).map(({ part }) => part);
  const rowsOf = (part: Part): number | undefined => readRows(table, part);
  const parts = partsOf(table);
  const { detached, kept } = doubtfulParts({ parts, acceptedBlocks: accepted.blocks, withToken, rowsOf });
  if (detached.length === 0 && kept.length === 0) return undefined;
  const definition = readDefinition(folder, table.uuid);
  // Without the setting non_replicated_deduplication_window, the engine writes no tokens, so parts without a token are normal.
  if (definition?.hasWindow !== true) return undefined;
  for (const { name } of detached) moveAway(table, name);
  if (detached.length > 0) {
    syncFolder(join(table.path, DETACHED));
    syncFolder(table.path);
  }
  const names = (found: readonly Part[]): readonly string[] => found.map(({ name }) => name);
  return { table: definition.name, detached: names(detached), kept: names(kept) };
}

function moveAway({ path }: TableFolder, part: string): void {
  mkdirSync(join(path, DETACHED), { recursive: true });
  const target = join(path, DETACHED, `${PREFIX}${part}`);
  for (let attempt = 0; ; attempt++) {
    // Block numbers are used again, so an older detached part can have the same name.
    const free = attempt === 0 ? target : `${target}_try${attempt}`;
    if (existsSync(free)) continue;
    renameSync(join(path, part), free);
    return;
  }
}

function readRows({ path }: TableFolder, { name }: Part): number | undefined {
  const file = join(path, name, 'count.txt');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8').trim();
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
