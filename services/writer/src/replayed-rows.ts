import type { Row } from './batch.ts';

/**
 * Selects the rows that a replay inserts. A replay (docs/exactly-once.md, section 8) fills a second set of tables. It inserts some rows
 * again from the log, and copies the other rows from the live tables. The live writer has no such selection and inserts every row.
 */
export interface ReplayedRows {
  /** The raw offset (offset in `events.raw`) at which a partition begins if the group has not committed an offset yet. */
  firstRawOffset(partition: number): number;
  /** The line that is inserted for a row. Undefined if the row is not inserted, because it was copied from the live tables. */
  lineOf(partition: number, row: Row): Uint8Array | undefined;
  /** Whether more rows will follow soon. The writer then waits longer for a full batch, because no reader waits for these rows. */
  expectsMore(partition: number): boolean;
}

const NO_LINE = new Uint8Array(0);

export function withLine(row: Row, line: Uint8Array | undefined): Row {
  return line === row.line ? row : { ...row, line: line ?? NO_LINE };
}

export function isPassedOver({ line }: Row): boolean {
  return line.byteLength === 0;
}
