import type { Row } from './batch.ts';

/** Which rows a replay writes to its tables. Without it, a writer writes every row. */
export interface ReplayedRows {
  /** Where a partition without a commit begins. */
  firstRawOffset(partition: number): number;
  /** The line that is inserted for a row; undefined: none, because the tables have it from elsewhere. */
  lineOf(partition: number, row: Row): Uint8Array | undefined;
}

const NO_LINE = new Uint8Array(0);

export function withLine(row: Row, line: Uint8Array | undefined): Row {
  return line === row.line ? row : { ...row, line: line ?? NO_LINE };
}

export function isPassedOver({ line }: Row): boolean {
  return line.byteLength === 0;
}
