import type { DumpedRow } from '@weir/domain/dump/dumped-row';

/** After this time an append with an unknown result has either reached the log or failed. */
export const SETTLE_MS = 5000;

export type AppendHits = 'stored' | 'refused' | 'unknown';

/** Appends rows of dumps that their site does not have, so a row is stored once whatever dumps it is in. */
export interface RestoredRows {
  /** Resolves with the number of rows that were appended, or why they were not: `behind` means that the pipeline must catch up first. */
  append(siteId: string, rows: readonly DumpedRow[]): Promise<number | Exclude<AppendHits, 'stored'> | 'behind'>;
}
