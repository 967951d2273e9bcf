import type { AppendOutcome } from '@weir/ports/event-log';

/** Throws if a record was not stored, because a measurement with missing records would be wrong. */
export function assertStored(outcomes: readonly AppendOutcome[]): void {
  const failed = outcomes.find(({ status }) => status !== 'stored');
  if (failed !== undefined) throw new Error(`the log did not store a record: ${JSON.stringify(failed)}`);
}
