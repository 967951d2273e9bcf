import type { LineChunk } from './chunk-lines.ts';
import type { RowChunk } from './chunk-rows.ts';

/** Divides a chunk into two chunks with half of its hits or rows each. Returns undefined if it has fewer than two. */
export function divideChunk<Chunk extends LineChunk | RowChunk>(chunk: Chunk): readonly [Chunk, Chunk] | undefined {
  const items = 'hits' in chunk ? chunk.hits : chunk.rows;
  const middle = Math.floor(items.length / 2);
  if (middle === 0) return undefined;
  // In a RowChunk, each line is a row. A LineChunk also has lines without a hit, so each hit has its own line number.
  const from = 'hits' in chunk ? (chunk.hits[middle]?.line ?? chunk.last_line) : chunk.first_line + middle;
  const name = 'hits' in chunk ? 'hits' : 'rows';
  return [
    { ...chunk, last_line: from - 1, [name]: items.slice(0, middle) },
    { ...chunk, first_line: from, [name]: items.slice(middle) },
  ];
}
