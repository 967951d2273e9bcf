import { createRawLog, type RawLogDeps } from '@weir/control/replay/raw/raw-log';
import { createReplayGate } from '@weir/control/replay/replay-gate';
import { createReplayLog, openAdmitting, type ReplayLogDeps } from '@weir/control/replay/replay-log';
import type { ConsumeOptions, EventLog, PartitionHandle, StoredRecord } from '@weir/ports/event-log';

const handle: PartitionHandle = {
  topic: 'events.raw',
  partition: 0,
  committed: undefined,
  signal: new AbortController().signal,
  commit: async () => undefined,
  seek: () => undefined,
  wake: () => undefined,
};
const records: StoredRecord[] = [0, 1, 2, 3, 4].map((offset) => {
  return { offset, value: Buffer.from(''), headers: {}, appendedAt: 0 };
});

async function openPairs(fail: (offsets: readonly number[], seek: (offset: number) => void) => void) {
  const calls: number[][] = [];
  const consumer = await openAdmitting(
    handle,
    async ({ seek }) => ({
      async handle(given) {
        const offsets = given.map(({ offset }) => offset);
        calls.push(offsets);
        fail(offsets, seek);
      },
      close: async () => undefined,
    }),
    { gate: createReplayGate(undefined, Date.now), admit: async (rest) => Math.min(2, rest.length) },
  );
  return { consumer, calls };
}

test('records that are delivered again after a failure are handled from the failure on', async () => {
  let failures = 2;
  const { consumer, calls } = await openPairs(([first]) => {
    if (first === 2 && failures-- > 0) throw new Error('the state store does not answer');
  });
  await expect(consumer.handle(records)).rejects.toThrow('does not answer');
  await expect(consumer.handle(records)).rejects.toThrow('does not answer');
  await consumer.handle(records);
  expect(calls).toEqual([[0, 1], [2, 3], [2, 3], [2, 3], [4]]);
  await consumer.handle(records);
  expect(calls.slice(5)).toEqual([[0, 1], [2, 3], [4]]);
});

test('after a seek, records are handled again from any offset', async () => {
  let sought = false;
  const { consumer, calls } = await openPairs(([first], seek) => {
    if (first !== 2 || sought) return;
    sought = true;
    seek(1);
  });
  await consumer.handle(records);
  await consumer.handle(records.slice(1));
  expect(calls).toEqual([
    [0, 1],
    [2, 3],
    [1, 2],
    [3, 4],
  ]);
});

test.each([
  ['enricher', (eventLog: EventLog) => createRawLog({ eventLog, run: 'run', starts: [] } as unknown as RawLogDeps)],
  ['writer', (eventLog: EventLog) => createReplayLog({ eventLog, run: 'run', starts: [] } as unknown as ReplayLogDeps)],
])('the %s of a replay learns that the log has lost records', async (_role, logOf) => {
  let subscribed: ConsumeOptions | undefined;
  const consume = async (options: ConsumeOptions) => {
    subscribed = options;
    return { joined: () => true, close: async () => undefined };
  };
  const ends: number[] = [];
  const consumer = {
    handle: async () => undefined,
    truncated: async (end: number) => void ends.push(end),
    close: async () => undefined,
  };
  const options = { topic: 'events.raw', group: 'group', open: async () => consumer, onError: () => undefined };
  await logOf({ consume } as EventLog).consume(options);
  await (await subscribed?.open(handle))?.truncated?.(4);
  expect(ends).toEqual([4]);
});
