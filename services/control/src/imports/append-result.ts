import type { DumpedRow } from '@weir/domain/dump/dumped-row';

/** When this much time has passed after an append had an unknown result, its records are in the log or will never arrive there. */
export const SETTLE_MS = 5000;

export type AppendHits = 'stored' | 'refused' | 'unknown';

/**
 * Appends the rows of a dump, except rows that the site already has and rows of erased persons. So a row that is in several dumps is stored once.
 */
export interface RestoredRows {
  /**
   * Resolves with the number of appended rows, or with the reason why it is not certain that all are in the log. `behind`: the tables do not
   * have all records of the log yet, or records of an earlier append may still arrive in the log. Try again later.
   */
  append(siteId: string, rows: readonly DumpedRow[]): Promise<number | Exclude<AppendHits, 'stored'> | 'behind'>;
}
