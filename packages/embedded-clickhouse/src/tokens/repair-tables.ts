import { join } from 'node:path';
import { type AcceptedTable, readAcceptedBlocks } from './accepted-blocks.ts';
import { type DetachedParts, detachDoubtfulParts } from './detach-doubtful-parts.ts';
import { brokenParts, dropOrphanedTokens, dropTokensOfBrokenParts } from './drop-orphaned-tokens.ts';
import { type TableFolder, tableFolders } from './table-folders.ts';
import { newestLog, readTokens, removeDamagedLines } from './token-log.ts';

export interface Repairs {
  readonly tablesWithDroppedTokens: number;
  readonly tablesWithDamagedLogs: number;
  readonly parts: readonly DetachedParts[];
}

/** The repair of the tables at a start. */
export interface TableRepair {
  readonly repairs: Repairs;
  /**
   * Call it after the engine was opened and closed again, because only the engine detects damaged parts. Returns the number of tables whose
   * tokens were changed.
   */
  dropTokensOfBrokenParts(): number;
  /** Whether the engine has moved damaged parts away since the repair. */
  hasBrokenParts(): boolean;
}

/**
 * Repairs the tables before the engine opens them, after a kill or a loss of power: moves new parts without a token away, removes damaged lines of
 * the deduplication logs, and drops tokens without a part (docs/decisions/0018 and 0048). The caller must have locked the folder.
 */
export function repairTables(folder: string): TableRepair {
  const accepted = readAcceptedBlocks(folder);
  const tables = tableFolders(folder);
  const temporary = join(folder, 'repaired-log.new');
  const parts: DetachedParts[] = [];
  let tablesWithDamagedLogs = 0;
  let tablesWithDroppedTokens = 0;
  for (const table of tables) {
    const known = ifComplete(table, accepted?.get(table.uuid));
    const found = known === undefined ? undefined : detachDoubtfulParts(folder, table, known);
    if (found !== undefined) parts.push(found);
    if (removeDamagedLines(table, known?.tokensFrom ?? newestLog(table), temporary)) tablesWithDamagedLogs++;
    if (dropOrphanedTokens(table, known) > 0) tablesWithDroppedTokens++;
  }
  const before = new Map(tables.map((table) => [table.uuid, new Set(brokenParts(table))]));
  const broken = tables.map((table) => ({
    table,
    found: () => brokenParts(table).filter((name) => before.get(table.uuid)?.has(name) !== true),
  }));
  return {
    repairs: { tablesWithDroppedTokens, tablesWithDamagedLogs, parts },
    hasBrokenParts: () => broken.some(({ found }) => found().length > 0),
    dropTokensOfBrokenParts: () =>
      broken.filter(({ table, found }) => dropTokensOfBrokenParts(table, found()) > 0).length,
  };
}

/** Returns undefined if the recorded position is not in the logs any more: then it is not certain which parts have a token. */
function ifComplete(table: TableFolder, known: AcceptedTable | undefined): AcceptedTable | undefined {
  return known !== undefined && readTokens(table, known.tokensFrom).isComplete ? known : undefined;
}
