import type { ConsumeOptions, EventLog, PartitionHandle } from '@weir/ports/event-log';
import { withTimes } from '../../src/replay/start-replay-enricher.ts';

test('a consumer of the log with times also learns that the log has lost records', async () => {
  let consumed: ConsumeOptions | undefined;
  const log = {
    async consume(options: ConsumeOptions) {
      consumed = options;
      return { close: async () => {} };
    },
  } as unknown as EventLog;
  const ends: number[] = [];
  await withTimes(log, new Map()).consume({
    topic: 't',
    group: 'g',
    onError: () => {},
    open: async () => ({
      handle: async () => {},
      truncated: async (end) => void ends.push(end),
      close: async () => {},
    }),
  });
  const consumer = await consumed?.open({ partition: 0 } as PartitionHandle);
  await consumer?.truncated?.(4);
  expect(ends).toEqual([4]);
});
