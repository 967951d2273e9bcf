import { HEADER_RAW_OFFSET } from '@weir/domain/records/records-columns';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import { followOutcomes } from '../../src/pipeline/decided-outcomes.ts';

const RECORDS = 2_000;
/** The search for a raw offset looks first at this position: 1,024 before the end. */
const PROBED = RECORDS - 1_024;

function outcomeOf(raw: number | undefined, offset: number): StoredRecord {
  const value = Buffer.from(raw !== undefined && raw % 7 === 0 ? '["duplicate"]' : '["row"]');
  const headers: StoredRecord['headers'] = raw === undefined ? {} : { [HEADER_RAW_OFFSET]: String(raw) };
  return { offset, value, headers, appendedAt: 0 };
}

/** A log whose topic of enriched records has these records. */
function logOf(records: readonly StoredRecord[]): EventLog {
  return {
    positions: async () => [{ partition: 0, first: 0, end: records.length }],
    read: async (_topic: string, _partition: number, from: number) => records.slice(from, from + 100),
  } as unknown as EventLog;
}

test('the search does not begin at a record of another run of a replay', async () => {
  const records = Array.from({ length: RECORDS }, (_, offset) =>
    outcomeOf(offset === PROBED ? undefined : offset < PROBED ? offset : offset - 1, offset),
  );
  const from = PROBED - 70;
  const found = await followOutcomes(logOf(records), 0).read(from, PROBED + 30);
  expect([...found]).toEqual(Array.from({ length: 100 }, (_, nth) => [from + nth, (from + nth) % 7 === 0]));
});
