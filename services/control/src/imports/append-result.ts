import type { DumpedRow } from '@weir/domain/dump/dumped-row';

/** If an append has an unknown result, its records can still arrive in the log until this time has passed. */
export const SETTLE_MS = 5000;

export type AppendHits = 'stored' | 'refused' | 'unknown';

/**
 * Appends the rows of a dump, except rows that the site already has and rows of erased persons. So a row that is in several dumps is stored once.
 */
export interface RestoredRows {
  /**
   * Resolves with the number of appended rows, or with the reason why it is not certain that all rows are in the log. `behind`: the tables do not
   * have all records of the log yet, or records of an earlier append may still arrive in the log. Try again later.
   */
  append(siteId: string, rows: readonly DumpedRow[]): Promise<number | Exclude<AppendHits, 'stored'> | 'behind'>;
}
