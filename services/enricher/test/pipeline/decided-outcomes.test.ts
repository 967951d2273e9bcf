import { HEADER_RAW_OFFSET } from '@weir/domain/records/records-columns';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import { followOutcomes, readDecidedOutcomes } from '../../src/pipeline/decided-outcomes.ts';

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

test('the search does not begin at records of another run of a replay', async () => {
  const raws = 11_000;
  // The search looks 1,024 records before the end of the log, then 2,048, 4,096 and so on. The last 9,000 records are those of the other run, so the
  // fifth look (16,384) is the first that finds a record of this run.
  const records = Array.from({ length: raws + 9_000 }, (_, offset) =>
    outcomeOf(offset < raws ? offset : undefined, offset),
  );
  const found = await followOutcomes(logOf(records), 0).read(raws - 100, raws);
  expect([...found]).toEqual(Array.from({ length: 100 }, (_, nth) => [raws - 100 + nth, (raws - 100 + nth) % 7 === 0]));
});

/** A log with the outcomes of these ranges of raw offsets, one after the other. The ends are exclusive. */
function logOfRanges(...ranges: readonly (readonly [from: number, to: number])[]): EventLog {
  const raws = ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, nth) => from + nth));
  return logOf(raws.map(outcomeOf));
}

test.each([
  {
    ranges: [
      [0, 2_048],
      [0, 1_024],
    ],
    committed: 1_024,
    to: 2_048,
  },
  {
    ranges: [
      [0, 4_196],
      [100, 1_500],
    ],
    committed: 1_500,
    to: 4_196,
  },
  {
    ranges: [
      [0, 20_000],
      [6_000, 10_096],
    ],
    committed: 10_096,
    to: 20_000,
  },
  { ranges: [[0, 20_000]], committed: 19_500, to: 20_000 },
] as const)('late repeats do not hide newer outcomes: committed $committed, to $to', async (one) => {
  const decided = await readDecidedOutcomes(logOfRanges(...one.ranges), 0, one.committed);
  expect(decided.to).toBe(one.to);
  const read = await decided.read(one.committed, one.to);
  expect(read.size).toBe(one.to - one.committed);
});

test('the search for outcomes fails while the log has outcomes that consumers cannot read yet', async () => {
  const log = logOfRanges([0, 10]);
  const positions: EventLog['positions'] = async (...args) =>
    (await log.positions(...args)).map((position) => ({ ...position, written: 12 }));
  await expect(readDecidedOutcomes({ ...log, positions }, 0, 8)).rejects.toMatchObject({
    code: 'event_log_unavailable',
  });
  expect((await readDecidedOutcomes(log, 0, 8)).to).toBe(10);
});
