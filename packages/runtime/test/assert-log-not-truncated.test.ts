import type { EventLog, PartitionPosition } from '@weir/ports/event-log';
import { assertLogNotTruncated } from '../src/consume/assert-log-not-truncated.ts';

const position = (end: number): PartitionPosition => {
  return { partition: 0, first: 0, end, committed: undefined, metadata: undefined };
};

test('a log that ends too early according to a former leader has lost nothing', async () => {
  // The log asks its other brokers only if it knows which end was seen before.
  const eventLog = {
    logId: 'log',
    positions: async (_topic, _group, _partitions, atLeast = 0) => [position(atLeast > 900 ? 1000 : 900)],
  } as Pick<EventLog, 'logId' | 'positions'> as EventLog;
  const truncated: number[] = [];
  const expected = {
    ...{ eventLog, topic: 'events.raw', group: 'group', partition: 0, seenBy: 'the test' },
    onTruncated: async (end: number) => void truncated.push(end),
  };
  await assertLogNotTruncated({ ...expected, end: 950 });
  expect(truncated).toEqual([]);
  await expect(assertLogNotTruncated({ ...expected, end: 1001 })).rejects.toMatchObject({ code: 'event_log_damaged' });
  expect(truncated).toEqual([1000]);
});
