import { holds, type Part } from './table-folders.ts';

export interface DoubtfulParts {
  /** The parts to detach, the largest first. */
  readonly detached: readonly Part[];
  /** Parts with rows that may be stored twice. They stay, because without them other rows could be missing. */
  readonly kept: readonly Part[];
}

export interface TableAfterCrash {
  readonly parts: readonly Part[];
  /** Parts up to this block number stay (accepted-blocks.ts). */
  readonly acceptedBlocks: number;
  /** The parts whose deduplication tokens were added after the file accepted-blocks.json was last written. */
  readonly withToken: readonly Part[];
  /** Returns the number of rows of a part, from its file `count.txt`. Undefined if this file is missing or does not contain a number. */
  readonly rowsOf: (part: Part) => number | undefined;
}

/** Lightweight updates write parts into partitions whose names begin with this text. These parts belong to no insert. */
const PATCH = 'patch-';

/**
 * Finds the parts with rows of inserts that were never acknowledged. A block comes from such an insert if its number is above
 * `acceptedBlocks` and it has no token. If a merged part contains such a block and older blocks, it is detached only if parts with all of
 * its older blocks are still on the disk: the engine then uses these parts again.
 */
export function doubtfulParts(table: TableAfterCrash): DoubtfulParts {
  const { parts, acceptedBlocks } = table;
  const tokens = new Set(table.withToken.map(blockOf));
  const lost = parts.filter(
    (part) =>
      isBlock(part) && part.last > acceptedBlocks && !part.partition.startsWith(PATCH) && !tokens.has(blockOf(part)),
  );
  const doubtful = parts.filter((part) => lost.some((block) => holds(part, block)));
  const tops = doubtful.filter((part) => !doubtful.some((other) => other !== part && isAbove(other, part)));
  const detached: Part[] = [];
  const kept: Part[] = [];
  for (const top of tops) {
    const group = doubtful.filter((part) => holds(top, part));
    (isBlock(top) || isReplaceable(top, group, table) ? detached : kept).push(...group);
  }
  // The repair can be interrupted between two moves, and the next repair must still find the rest. So a merged part is moved before the
  // parts of which it was made.
  return { detached: detached.sort(byAge), kept };
}

/**
 * Whether a merged part can be detached without a loss of other rows: its older blocks must also be in other parts. The engine uses these
 * parts again when the merged part is detached.
 */
function isReplaceable(top: Part, group: readonly Part[], { parts, withToken, rowsOf }: TableAfterCrash): boolean {
  const inside = parts.filter((part) => holds(top, part) && !group.includes(part));
  const older = inside.filter((part) => !inside.some((other) => other !== part && isAbove(other, part)));
  const lost = group.filter((part) => isBlock(part) && !group.some((other) => isBlock(other) && isBelow(other, part)));
  const sources = [...older, ...lost];
  const areMergeable = older.every(
    // The merged part can have mutations that an older part lacks, such as a deletion. The older part would then bring deleted rows back.
    (part) => part.level <= top.level && (part.mutation ?? part.first) >= (top.mutation ?? 0),
  );
  const isWholeRange =
    Math.min(...sources.map(({ first }) => first)) === top.first &&
    Math.max(...sources.map(({ last }) => last)) === top.last;
  const hasTokens = withToken
    .filter((block) => holds(top, block))
    .every((block) => older.some((part) => holds(part, block)));
  const rows = rowsOf(top) ?? 0;
  const rowsOfSources = sources.reduce((sum, part) => sum + (rowsOf(part) ?? Number.NaN), 0);
  return areMergeable && isWholeRange && hasTokens && rows > 0 && rows <= rowsOfSources;
}

/** Whether the part has the rows of one insert, perhaps changed by mutations. */
function isBlock({ first, last }: Part): boolean {
  return first === last;
}

const blockOf = ({ partition, last }: Part): string => `${partition}_${last}`;

/** A part that contains another one, or that was made later from the same blocks, comes first. */
function byAge(a: Part, b: Part): number {
  return b.last - b.first - (a.last - a.first) || b.level - a.level || (b.mutation ?? 0) - (a.mutation ?? 0);
}

/** Whether `one` contains `other` and was made later. */
function isAbove(one: Part, other: Part): boolean {
  return holds(one, other) && (!holds(other, one) || isBelow(other, one));
}

/** Of two parts with the same blocks: whether `one` was made earlier. */
function isBelow(one: Part, other: Part): boolean {
  if (!holds(one, other) || !holds(other, one)) return false;
  return one.level < other.level || (one.level === other.level && (one.mutation ?? 0) < (other.mutation ?? 0));
}
