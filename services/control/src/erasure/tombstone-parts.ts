import type { Tombstone } from '@weir/domain/erasure/tombstone';

/** The maximum number of entries in one part. A part is one row of the registry. */
const ENTRIES_PER_PART_MAX = 2_000;
/** The maximum length of all entries of a part together. Entries with many periods are long, and Kafka refuses rows of more than a megabyte. */
const PART_CHARS_MAX = 256 * 1024;

/** Splits entries into parts. The first part has the number `head.part`, and the others the following numbers. */
export function tombstoneParts(head: Omit<Tombstone, 'entries'>, entries: readonly string[]): readonly Tombstone[] {
  const parts: string[][] = [];
  let chars = 0;
  for (const entry of entries) {
    const last = parts.at(-1);
    chars += entry.length;
    if (last !== undefined && last.length < ENTRIES_PER_PART_MAX && chars <= PART_CHARS_MAX) last.push(entry);
    else {
      parts.push([entry]);
      chars = entry.length;
    }
  }
  return parts.map((own, nth) => ({ ...head, part: head.part + nth, entries: own }));
}
