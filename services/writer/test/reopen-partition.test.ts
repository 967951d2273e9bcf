import type { PartitionHandle } from '@weir/ports/event-log';
import { openReopening } from '../src/reopen-partition.ts';

test('the consumer that is open now learns that the log has lost records', async () => {
  const handle: PartitionHandle = {
    topic: 'events.enriched',
    partition: 0,
    committed: undefined,
    signal: new AbortController().signal,
    commit: async () => undefined,
    seek: () => undefined,
    wake: () => undefined,
  };
  const losses: string[] = [];
  let opened = 0;
  const reopening = await openReopening(handle, async () => {
    const name = `consumer ${++opened}`;
    return {
      mustReopen: () => name === 'consumer 1',
      handle: async () => undefined,
      truncated: async (end) => void losses.push(`${name}: ${end}`),
      close: async () => undefined,
    };
  });
  await reopening.truncated?.(5);
  await reopening.handle([]);
  await reopening.truncated?.(7);
  expect(losses).toEqual(['consumer 1: 5', 'consumer 2: 7']);
});
