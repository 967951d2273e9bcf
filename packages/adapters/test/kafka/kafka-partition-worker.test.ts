import type { PartitionHandle } from '@weir/ports/event-log';
import { deferred, eventually } from '@weir/testkit/eventually';
import type { KafkaMessage } from 'kafkajs';
import { startPartitionWorker } from '../../src/kafka/consume/kafka-partition-worker.ts';

const message = (offset: number): KafkaMessage =>
  ({
    offset: String(offset),
    timestamp: '0',
    value: Buffer.from('x'),
    key: null,
    attributes: 0,
    headers: {},
  }) as KafkaMessage;

it('a lost end of a partition is reported after the records that were read, because a successful batch clears the alarm', async () => {
  const seen: string[] = [];
  const { promise: released, resolve: release } = deferred();
  const worker = startPartitionWorker({
    topic: 'topic',
    fetchTopic: 'topic',
    partition: 0,
    committed: { offset: 3, metadata: '' },
    commit: async () => undefined,
    wake: () => undefined,
    options: {
      topic: 'topic',
      group: 'group',
      async open(_handle: PartitionHandle) {
        return {
          async handle(records) {
            seen.push(`handles ${records.length}`);
            await released;
            seen.push('handled');
          },
          async truncated(end) {
            seen.push(`truncated at ${end}`);
          },
          async close() {},
        };
      },
      onError: (error) => seen.push((error as Error).message),
    },
  });
  const { source } = worker;
  await eventually('the partition is read', () => source.wanted() === 3);
  source.deliver(3, [message(3), message(4)], 5);
  await eventually('the batch is handled', () => seen.length === 1);
  source.outOfRange(5, 0, 4);
  expect(source.wanted()).toBeUndefined();
  release();
  await eventually('the report', () => seen.length === 4);
  expect(seen).toEqual([
    'handles 2',
    'handled',
    'truncated at 4',
    'topic/0 ends at 4, but offset 5 comes next: the log has lost records. The partition is not read until it is assigned again',
  ]);
  await worker.stop();
});
