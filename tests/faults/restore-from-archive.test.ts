import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { mustRunWeir, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { tableDigests } from '../../packages/adapters/test/clickhouse/table-digests.ts';
import { expectExactlyOnce, FAULTS_ENV } from './exactly-once.ts';

const EVENTS = 1_000;
const CLIENTS = 4;
const USERS = 20;
const WITHIN_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), 'weir-restore-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const digestsOf = ({ client }: WeirProcess) => tableDigests((query) => client.sql(query), 'weir');

test('an archive that was written under load and kills, in an empty folder: the same tables, and a balanced audit', async () => {
  const env = { ...FAULTS_ENV, ARCHIVE_URL: pathToFileURL(folder).href, ARCHIVE_LINGER_SECONDS: '1' };
  const original = await startWeir({ env });
  const { client } = original;
  const { site, key } = await client.createSiteWithKey();
  await client.keyKnown(key);
  const load = startLoad({ url: original.url, site, key, clients: CLIENTS });
  await eventually('many events', () => load.acknowledgedKeys.size > EVENTS, WITHIN_MS);
  await original.kill9();
  await original.restart();
  for (let nth = 0; nth < USERS; nth++) {
    const identity = { visitor_id: `c0-${3 * nth}`, user_id: `user-${nth}`, email: `${nth}@example.com` };
    await client.identify(key, identity);
    const payment = { name: 'payment', value: '9.90', properties: { currency: 'EUR' } };
    await client.events(key, { ...payment, user_id: `user-${nth}`, idempotency_key: `payment-${nth}` });
  }
  await eventually('more events', () => load.acknowledgedKeys.size > 2 * EVENTS, WITHIN_MS);
  await load.stop();
  await expectExactlyOnce(original, site, load);
  const records = await client.number('SELECT count() FROM records');
  await eventually(
    'everything to be archived',
    async () => {
      const archived = new Map<string, number>();
      for (const { topic, ranges } of await summariseArchive(openFileObjectStore(folder))) {
        expect(ranges).toHaveLength(1);
        for (const [from, to] of ranges) archived.set(topic, (archived.get(topic) ?? 0) + to + 1 - from);
      }
      expect(Object.fromEntries(archived)).toMatchObject({ 'events.raw': records });
      expect(archived.get('events.enriched')).toBeGreaterThanOrEqual(records);
      return true;
    },
    WITHIN_MS,
  );
  const digests = await digestsOf(original);
  await original.stop();

  const restored = await startWeir({ env });
  try {
    // The archive has records only, so the operator makes the sites again.
    await restored.client.createSite({ site_id: site });
    await mustRunWeir(restored.client, 'replay', 'start', '--from', 'archive');
    await mustRunWeir(restored.client, 'replay', 'swap');
    expect(await digestsOf(restored)).toEqual(digests);
    await mustRunWeir(restored.client, 'audit');
    const audit = await restored.client.must(200, 'GET', '/audit');
    expect(audit).toMatchObject({ balanced: true, totals: { received: records, in_flight: 0 } });

    const { key: own } = await restored.client.createKey(site);
    await restored.client.keyKnown(own);
    expect((await restored.client.events(own, { name: 'after' })).status).toBe(202);
    await restored.client.settled();
    expect(await restored.client.number('SELECT count() FROM records')).toBe(records + 1);
    await mustRunWeir(restored.client, 'audit');
  } finally {
    await restored.stop();
  }
}, 1_800_000);
