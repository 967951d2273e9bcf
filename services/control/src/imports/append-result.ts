import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';

/** If an append has an unknown result, its records can still arrive in the log until this time has passed. */
export const SETTLE_MS = 5000;

export type AppendHits = 'stored' | 'refused' | 'unknown';

/** Appends raw records, in order. */
export async function appendRaw(eventLog: EventLog, records: readonly AppendRecord[]): Promise<AppendHits> {
  const outcomes = await eventLog.append(TOPIC_RAW, records);
  if (outcomes.some(({ status }) => status === 'unknown')) return 'unknown';
  return outcomes.every(({ status }) => status === 'stored') ? 'stored' : 'refused';
}

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
