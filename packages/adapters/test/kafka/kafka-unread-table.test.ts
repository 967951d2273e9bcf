import { randomUUID } from 'node:crypto';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Kafka, logLevel } from 'kafkajs';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

describeLive('kafka', (brokers) => {
  test('a table that cannot be read any more keeps its rows, shows since when, and does not catch up', async () => {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    const log = await openKafkaFixtureLog(brokers(), prefix, 1, { appendDeadlineMs: 1_700 });
    const table = await log.openTable('table.0');
    // On a busy machine, the first connections can take longer than the limits of one call, so the calls are repeated.
    await eventually('the row is stored', () => table.put('a', '1').then(() => true));
    await eventually('the table catches up', () => table.catchUp().then(() => true));
    await eventually('the table is read', () => table.unreadMs() < 1_000);

    const admin = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [`${prefix}table.0`] });
    await admin.disconnect();
    await eventually('the table is not read', () => table.unreadMs() > 2_000);
    expect([...table.entries()]).toEqual([['a', '1']]);
    await expect(table.catchUp()).rejects.toMatchObject({ code: 'event_log_unavailable' });
    await table.close();
    await log.close();
  });
});
