import { randomUUID } from 'node:crypto';
import { isDependencyError } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Kafka, logLevel } from 'kafkajs';
import { type Member, record, startMember, text } from '../../../ports/contract/event-log-member.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

describeLive('kafka', (brokers) => {
  /** A member that has read three records of partition 0, and an admin client with which the test can damage the topic. */
  async function openConsumed() {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    const name = `${prefix}topic.0`;
    const log = await openKafkaFixtureLog(brokers(), prefix, 1);
    const fill = (partition: number, ...values: string[]) =>
      log.append(
        'topic.0',
        values.map((value) => ({ ...record(value), partition })),
      );
    await fill(0, 'a', 'b', 'c');
    const admin = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    let back = true;
    const reader = await startMember(log, 'topic.0', {
      commitEach: true,
      before(handle, records) {
        if (!back || text(records.at(-1)!) !== 'go back') return;
        back = false;
        handle.seek(0);
      },
    });
    await reader.has(0, 3);
    return {
      log,
      fill,
      admin,
      name,
      reader,
      read: () => (reader.delivered.get(0) ?? []).map(text),
      async close() {
        await reader.subscription.close();
        await admin.disconnect();
        await log.close();
      },
    };
  }
  const damage = ({ errors }: Member) =>
    errors.filter(({ error }) => isDependencyError(error, 'event_log_damaged')).map(({ error }) => `${error}`);

  test('a recreated topic is reported, and its records are not processed as the next ones', async () => {
    const { admin, name, reader, read, fill, close } = await openConsumed();
    await admin.deleteTopics({ topics: [name] });
    await eventually('the topic exists again and is empty', async () => {
      await admin.createTopics({ topics: [{ topic: name, numPartitions: 3 }] });
      return (await admin.fetchTopicOffsets(name)).every(({ high }) => high === '0');
    });
    await eventually('the damage is reported', () => damage(reader).length > 0);
    await eventually('the new topic accepts records', async () => (await fill(0, 'd'))[0]?.status === 'stored');
    await fill(0, 'e', 'f', 'g', 'h');
    await fill(1, 'of another partition, in the same request');
    await reader.has(1, 1);
    expect(damage(reader)).toEqual([expect.stringContaining('the log has lost records')]);
    expect(read()).toEqual(['a', 'b', 'c']);
    await close();
  });

  test('records that retention removed before they were read are reported, and reading continues after them', async () => {
    const { log, admin, name, reader, read, fill, close } = await openConsumed();
    // Loads the metadata of the topic, because `deleteTopicRecords` finds the leader only in metadata that the admin client already has.
    await admin.fetchTopicOffsets(name);
    await admin.deleteTopicRecords({ topic: name, partitions: [{ partition: 0, offset: '2' }] });
    await fill(0, 'go back');
    await eventually('read again from the oldest remaining record', () => read().length === 6);
    expect(read()).toEqual(['a', 'b', 'c', 'go back', 'c', 'go back']);
    expect(damage(reader)).toEqual([expect.stringContaining('retention removed records that were not read yet')]);
    const unread = await log.read('topic.0', 0, 0, 1024);
    expect(unread.map((record) => [record.offset, text(record)])).toEqual([
      [2, 'c'],
      [3, 'go back'],
    ]);
    await close();
  });
});
