import { randomUUID } from 'node:crypto';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Kafka, logLevel } from 'kafkajs';
import { FAULTS_ENV } from '../faults/exactly-once.ts';
import { describeDistributed } from './deployment.ts';

const EVENTS = 300;
const STEP_WITHIN_MS = 180_000;

jest.setTimeout(4 * STEP_WITHIN_MS);

// These are the steps of docs/operations.md, Backups, "Kafka and ClickHouse".
describeDistributed('the tables are restored from a backup of ClickHouse', FAULTS_ENV, (weir) => {
  async function command(query: string): Promise<string> {
    const { origin, username, password } = new URL(weir().services.clickhouse.address);
    const authorization = `Basic ${btoa(`${username}:${password}`)}`;
    const answer = await fetch(origin, { method: 'POST', body: query, headers: { authorization } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text;
  }

  describeLive('s3', (endpoint) => {
    test('the writers insert what the backup does not have, once, and the audit balances', async () => {
      const { client, writers, control, services } = weir();
      const bucket = `${endpoint()}/weir-${randomUUID()}`;
      expect((await fetch(bucket, { method: 'PUT' })).ok).toBe(true);
      const backup = `S3('${bucket}/one', 'test', 'test')`;
      const site = await client.createSite();
      const { key } = await client.createKey(site);
      const send = async (): Promise<void> => {
        const events = Array.from({ length: EVENTS }, (_, nth) => ({ name: 'seen', visitor_id: `visitor-${nth}` }));
        await client.sendBatch(key, events);
        await client.settled();
      };
      await send();
      expect(await command(`BACKUP DATABASE weir TO ${backup}`)).toContain('BACKUP_CREATED');
      await send();

      for (const one of [...writers, control]) await one.terminate();
      await command('DROP DATABASE weir SYNC');
      expect(await command(`RESTORE DATABASE weir FROM ${backup}`)).toContain('RESTORED');
      const brokers = (services.env.KAFKA_BROKERS ?? '').split(',');
      const admin = new Kafka({ clientId: 'test', brokers, logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      await eventually('the commits to be deleted', () =>
        admin.deleteGroups([`${GROUP_WRITER}.${TOPIC_ENRICHED}`]).then(() => true),
      );
      await admin.disconnect();
      for (const one of [control, ...writers]) await one.restart();

      await eventually(
        'all events to be stored',
        async () => {
          const count = 'SELECT count() FROM records WHERE site_id = {site:String}';
          expect(await client.number(count, { site })).toBe(2 * EVENTS);
          return true;
        },
        STEP_WITHIN_MS,
      );
      await client.settled();
      await client.balanced();
      expect(await client.must(200, 'GET', '/audit')).toMatchObject({ balanced: true, totals: { in_flight: 0 } });
    });
  });
});
