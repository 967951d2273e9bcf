import type { Tombstone } from '@weir/domain/erasure/tombstone';

/** A part is one row of the registry, of less than 100 KB. */
const ENTRIES_PER_PART_MAX = 2_000;

/** Splits entries into parts, of which the first one has the number of `head`. */
export function tombstoneParts(head: Omit<Tombstone, 'entries'>, entries: readonly string[]): readonly Tombstone[] {
  const parts: Tombstone[] = [];
  for (let from = 0; from < entries.length; from += ENTRIES_PER_PART_MAX) {
    parts.push({ ...head, part: head.part + parts.length, entries: entries.slice(from, from + ENTRIES_PER_PART_MAX) });
  }
  return parts;
}
