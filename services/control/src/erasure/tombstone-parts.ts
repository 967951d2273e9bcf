import type { Tombstone } from '@weir/domain/erasure/tombstone';

/**
 * The maximum number of entries in one part. A part is one row of the registry, and stays below 100 KB if few of its entries are limited to periods
 * of time.
 */
const ENTRIES_PER_PART_MAX = 2_000;

/** Splits entries into parts. The first part has the number `head.part`, and the others the following numbers. */
export function tombstoneParts(head: Omit<Tombstone, 'entries'>, entries: readonly string[]): readonly Tombstone[] {
  const parts: Tombstone[] = [];
  for (let from = 0; from < entries.length; from += ENTRIES_PER_PART_MAX) {
    parts.push({ ...head, part: head.part + parts.length, entries: entries.slice(from, from + ENTRIES_PER_PART_MAX) });
  }
  return parts;
}
