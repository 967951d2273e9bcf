import { randomUUID } from 'node:crypto';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Kafka, logLevel } from 'kafkajs';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

describeLive('kafka', (brokers) => {
  async function addPartition(...topics: string[]): Promise<void> {
    const admin = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.createPartitions({ topicPartitions: topics.map((topic) => ({ topic, count: 4 })) });
    await admin.disconnect();
  }

  describe('the number of partitions of a log never changes', () => {
    test.each([
      ['only events.raw', ['events.raw']],
      ['every topic of the log', ['events.raw', 'events.enriched']],
    ])('a partition that was added to %s is reported, and the next start fails', async (_, names) => {
      const prefix = `test-${randomUUID().slice(0, 8)}.`;
      const log = await openKafkaFixtureLog(brokers(), prefix, 0);
      const partitions = async () => (await log.drift()).filter(({ setting }) => setting === 'partitions');
      expect(await partitions()).toEqual([]);
      await addPartition(...names.map((name) => prefix + name));
      // The answer to createPartitions does not wait until each broker knows the new partition.
      await eventually('the new partitions', async () => (await partitions()).length === names.length);
      expect(await partitions()).toEqual(
        names.map((name) => ({ topic: prefix + name, setting: 'partitions', wanted: '3', found: '4', fatal: true })),
      );
      await expect(openKafkaFixtureLog(brokers(), prefix, 0)).rejects.toMatchObject({
        code: 'event_log_damaged',
        message: expect.stringContaining(`${prefix}events.raw: partitions is 4, not 3`),
      });
      await log.close();
    });
  });

  test('an existing log keeps its number of partitions, also if another number is configured', async () => {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    await (await openKafkaFixtureLog(brokers(), prefix, 0)).close();
    const log = await openKafkaFixtureLog(brokers(), prefix, 0, { partitions: 5 });
    expect(log.partitionCount).toBe(3);
    await log.close();
  });
});
