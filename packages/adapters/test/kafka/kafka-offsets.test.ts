import type { Broker, Cluster } from 'kafkajs';
import type { KafkaLink } from '../../src/kafka/kafka-link.ts';
import { readEdges, readOffsetsAtTime } from '../../src/kafka/kafka-offsets.ts';

const place = { nodeId: 1, host: 'broker', port: 9092 };
const partitionMetadata = [0, 1].map((partitionId) => ({ partitionId, leader: 1 }));
const metadata = { brokers: [place], topicMetadata: [{ topic: 't', partitionMetadata }] };
const cluster = { refreshMetadata: async () => undefined, brokerPool: { metadata } } as unknown as Cluster;
const broker = {
  listOffsets: async () => ({ responses: [{ partitions: [{ partition: 0, offset: '7' }] }] }),
} as unknown as Broker;
/** A link to a broker whose answers contain only partition 0. */
const link = { run: (work) => work(cluster), runOn: (_, work) => work(broker) } as KafkaLink;

test('a partition that is missing from an answer does not count as empty', async () => {
  expect(await readEdges(link, 't', [0], 1)).toEqual(new Map([[0, { first: 7, end: 7 }]]));
  await expect(readEdges(link, 't', [0, 1], 1)).rejects.toThrow('t/1');
  await expect(readOffsetsAtTime(link, 't', [0, 1], 0)).rejects.toThrow('t/1');
});
