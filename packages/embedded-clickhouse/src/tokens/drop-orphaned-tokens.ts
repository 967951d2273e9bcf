import { join } from 'node:path';
import type { AcceptedTable } from './accepted-blocks.ts';
import { holds, namesIn, parsePart, partsOf, type TableFolder } from './table-folders.ts';
import { BEGINNING, dropTokens, newestLog, readTokens, type TokenEntry } from './token-log.ts';

/** The engine moves a damaged part to the folder `detached` and adds this prefix to its name. */
export const BROKEN_PREFIX = 'broken-on-start_';
const BROKEN = new RegExp(`^${BROKEN_PREFIX}(.*?)(?:_try\\d+)?$`);

/**
 * Drops the deduplication tokens of parts that are missing, so that the inserts can be repeated. An insert first writes its token into the
 * table's deduplication log and then renames its part. If the engine is killed between these steps, it later drops each repeat of the insert
 * as a duplicate, although it does not have the rows.
 *
 * If it is known which block numbers are accepted (accepted-blocks.ts), each token above them is checked. Otherwise, the newest tokens are
 * checked, up to the first one whose part exists. The tokens of accepted parts stay, because an erasure or the retention may have removed
 * the rows: their insert must not store them again. The engine must be closed. Returns the number of dropped tokens.
 */
export function dropOrphanedTokens(table: TableFolder, accepted: AcceptedTable | undefined): number {
  const entries = knownTokens(readTokens(table, accepted?.tokensFrom ?? newestLog(table)).entries);
  const parts = partsOf(table);
  const isOrphan = ({ part }: TokenEntry): boolean => !parts.some((other) => holds(other, part));
  const newest = entries.toReversed();
  const kept = newest.findIndex((entry) => !isOrphan(entry));
  const orphans =
    accepted === undefined
      ? newest.slice(0, kept < 0 ? newest.length : kept)
      : entries.filter((entry) => entry.part.last > accepted.blocks && isOrphan(entry));
  dropTokens(table, orphans);
  return orphans.length;
}

/** The names of the parts that the engine has found to be damaged and has moved away. */
export function brokenParts({ path }: TableFolder): readonly string[] {
  return namesIn(join(path, 'detached')).filter((name) => BROKEN.test(name));
}

/** Drops the tokens of damaged parts, also of accepted ones. The engine must be closed. Returns the number of dropped tokens. */
export function dropTokensOfBrokenParts(table: TableFolder, broken: readonly string[]): number {
  const lost = broken.flatMap((name) => parsePart(BROKEN.exec(name)?.[1] ?? '') ?? []);
  if (lost.length === 0) return 0;
  const parts = partsOf(table);
  const orphans = knownTokens(readTokens(table, BEGINNING).entries).filter(
    ({ part }) => lost.some((other) => holds(other, part)) && !parts.some((other) => holds(other, part)),
  );
  dropTokens(table, orphans);
  return orphans.length;
}

/** The tokens that were added and not dropped later, oldest first. */
function knownTokens(entries: readonly TokenEntry[]): readonly TokenEntry[] {
  const known = new Map<string, TokenEntry>();
  for (const entry of entries) {
    known.delete(entry.token);
    if (entry.isAdded) known.set(entry.token, entry);
  }
  return [...known.values()];
}
