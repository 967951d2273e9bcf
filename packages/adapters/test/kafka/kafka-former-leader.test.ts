import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import type { Broker, Cluster } from 'kafkajs';
import { createKafkaFetcher } from '../../src/kafka/consume/kafka-fetcher.ts';
import type { KafkaLink } from '../../src/kafka/kafka-link.ts';
import { readAllEdges } from '../../src/kafka/kafka-offsets.ts';
import type { BrokerPlace } from '../../src/kafka/kafkajs-private.ts';

const FORMER: BrokerPlace = { nodeId: 1, host: 'former', port: 9092 };
const PRESENT: BrokerPlace = { nodeId: 2, host: 'present', port: 9092 };

/**
 * A link whose metadata come from a broker that cannot reach the controller: they still name this broker (`FORMER`) as the leader of `t/0`. Both
 * brokers answer as the leader. `ends`: the end offset that each broker answers, or the error with which it refuses.
 */
function linkTo(ends: Record<'former' | 'present', number | Error>) {
  const topicMetadata = [{ topic: 't', partitionMetadata: [{ partitionId: 0, leader: FORMER.nodeId }] }];
  const metadata = { brokers: [FORMER, PRESENT], topicMetadata };
  const cluster = { refreshMetadata: async () => undefined, brokerPool: { metadata } } as unknown as Cluster;
  let fetches = 0;
  const brokerAt = (place: BrokerPlace) => ({
    connectionPool: {},
    async listOffsets({ topics }: { topics: { partitions: { timestamp: string }[] }[] }) {
      const end = ends[place.host as keyof typeof ends];
      if (end instanceof Error) throw end;
      const offset = topics[0]?.partitions[0]?.timestamp === '-2' ? 0 : end;
      return { responses: [{ partitions: [{ partition: 0, offset: String(offset) }] }] };
    },
    async fetch() {
      fetches += 1;
      return { responses: [{ partitions: [{ partition: 0, errorCode: 1, highWatermark: '-1', messages: [] }] }] };
    },
  });
  const link = {
    run: (work) => work(cluster),
    runOn: (place, work) => work(brokerAt(place) as unknown as Broker),
    leaders: async () => () => FORMER,
    refreshLeaders: () => undefined,
    close: async () => undefined,
  } as KafkaLink;
  return { link, fetches: () => fetches };
}

test('if a partition ends before an end that was seen, the highest end of all brokers counts', async () => {
  const { link } = linkTo({ former: 900, present: 1000 });
  expect((await readAllEdges(link, 't', [0], 900)).get(0)).toMatchObject({ first: 0, end: 900 });
  expect((await readAllEdges(link, 't', [0], 950)).get(0)).toMatchObject({ first: 0, end: 1000 });
});

test('brokers that are not the leader, or do not answer, do not hide a loss', async () => {
  const { link } = linkTo({ former: 900, present: new Error('NOT_LEADER_FOR_PARTITION') });
  expect((await readAllEdges(link, 't', [0], 950)).get(0)).toMatchObject({ first: 0, end: 900 });
});

test('a partition has lost no records while another broker has the next offset', async () => {
  const ends = { former: 900, present: 1000 };
  const { link, fetches } = linkTo(ends);
  const reported: unknown[] = [];
  const fetcher = createKafkaFetcher(link, createLogger('silent'));
  fetcher.add({
    topic: 't',
    partition: 0,
    fetchBytesMax: 1024,
    wanted: () => (reported.length === 0 ? 1000 : undefined),
    deliver: () => undefined,
    outOfRange: (...range) => void reported.push(range),
    onError: (error) => void reported.push(error),
  });
  await eventually('the request is repeated', () => fetches() > 2);
  expect(reported).toEqual([]);
  ends.present = 950;
  await eventually('the loss is reported', () => reported.length > 0);
  expect(reported).toEqual([[1000, 0, 950]]);
  fetcher.close();
});
