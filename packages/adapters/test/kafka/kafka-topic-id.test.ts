import { randomBytes, randomUUID } from 'node:crypto';
import { describeLive } from '@weir/testkit/live-ports';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import topicsJson from '../../../../infra/kafka/topics.json' with { type: 'json' };
import { topicIdIn } from '../../src/kafka/kafka-topic-id.ts';
import { createTopics } from './create-topics.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

const ZEROS = Buffer.alloc(16);

/** The beginning of a broker's answer to a metadata request of version 10: from after the correlation ID to the ID of the topic. */
function answerWith(id: Buffer): Buffer {
  const text = (value: string) => Buffer.from([value.length + 1, ...Buffer.from(value)]);
  const int32 = (value: number) => Buffer.from([0, 0, value >> 8, value & 0xff]);
  const broker = [int32(1), text('127.0.0.1'), int32(9092), /* no rack, no tagged fields */ Buffer.from([0, 0])];
  const head = [/* no tagged fields */ Buffer.from([0]), /* throttle time */ int32(0)];
  const cluster = [/* one broker */ Buffer.from([2]), ...broker, text('cluster'), /* controller */ int32(1)];
  const topic = [/* one topic, no error */ Buffer.from([2, 0, 0]), text('events.raw'), id];
  return Buffer.concat([...head, ...cluster, ...topic]);
}

describe('the ID of a topic', () => {
  test('is the one in the answer of the broker', () => {
    const id = randomBytes(16);
    expect(topicIdIn(answerWith(id))).toBe(id.toString('base64url'));
  });

  test('is undefined if the broker answers with zeros', () => {
    expect(topicIdIn(answerWith(ZEROS))).toBeUndefined();
  });
});

describeLive('kafka', (brokers) => {
  test('an ID of zeros in the registry is ignored: the log opens, and another process finds the same ID of the topic', async () => {
    const topicPrefix = `test-${randomUUID().slice(0, 8)}.`;
    const topic = `${topicPrefix}registry`;
    const kafka = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING });
    const configEntries = Object.entries(topicsJson.topics.registry.config).map(([name, value]) => ({ name, value }));
    const [admin, producer] = [kafka.admin(), kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })];
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic, numPartitions: 1, configEntries }]);
    const stored = { key: '\u0000raw_topic_id:1', value: JSON.stringify(ZEROS.toString('base64url')) };
    await producer.send({ topic, acks: -1, messages: [stored] });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    for (let start = 0; start < 2; start++) {
      const log = await openKafkaFixtureLog(brokers(), topicPrefix, 0);
      await log.refuseReplacedTopic();
      await log.close();
    }
  });
});
