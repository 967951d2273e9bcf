import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { ObjectStore } from '@weir/ports/object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { archivedRecords } from '../../services/archiver/test/archived-records.ts';

const ROUNDS = 4;
const EVENTS_PER_ROUND = 300;
const CLIENT_ADDRESS = '198.51.100.77';

/** Sends events while Weir is killed repeatedly. Then checks that the archive of each topic contains every accepted event exactly once. */
async function archivesEverythingOnce(weir: WeirProcess, store: ObjectStore): Promise<void> {
  const { client } = weir;
  const { key } = await client.createSiteWithKey();
  await client.keyKnown(key);
  const accepted: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const sending = Promise.all(
      Array.from({ length: EVENTS_PER_ROUND }, async () => {
        const name = randomUUID();
        const answer = await client.events(key, { name, context: { ip: CLIENT_ADDRESS } }).catch(() => undefined);
        if (answer?.status === 202) accepted.push(name);
      }),
    );
    await eventually('some events are accepted', () => accepted.length > round * 100);
    await weir.kill9();
    await sending;
    await weir.restart();
  }
  const archivedNames = async (topic: string): Promise<readonly string[]> =>
    (await archivedRecords(store, topic)).flatMap(({ value }) =>
      accepted.filter((name) => Buffer.from(value).includes(name)),
    );
  for (const topic of ['events.raw', 'events.enriched']) {
    await eventually(`${topic} is archived`, async () => (await archivedNames(topic)).length >= accepted.length);
    const found = await archivedNames(topic);
    expect(found).toHaveLength(new Set(found).size);
    expect([...found].sort()).toEqual([...accepted].sort());
  }
  for (const { ranges } of await summariseArchive(store)) expect(ranges).toHaveLength(1);
  const raw = Buffer.concat((await archivedRecords(store, 'events.raw')).map(({ value }) => value)).toString();
  expect(raw).not.toContain(CLIENT_ADDRESS);
  expect(raw).not.toMatch(/"sealedIp":"[^"]/);
}

const ENV = { ARCHIVE_LINGER_SECONDS: '1', RATE_LIMIT_EVENTS: '1000000' };
const S3 = { region: 'us-east-1', pathStyle: true };

test('in a folder: every accepted event once, after kills of the whole process group', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-archive-'));
  const url = pathToFileURL(folder).href;
  const weir = await startWeir({ env: { ...ENV, ARCHIVE_URL: url } });
  try {
    await archivesEverythingOnce(weir, await openObjectStore({ url, s3: { ...S3, endpoint: undefined } }));
  } finally {
    await weir.stop();
    rmSync(folder, { recursive: true });
  }
});

describeLive('s3', (endpoint) => {
  test('in a bucket: every accepted event once, after kills of the whole process group', async () => {
    const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
    Object.assign(process.env, credentials);
    const bucket = `weir-${randomUUID()}`;
    expect((await fetch(`${endpoint()}/${bucket}`, { method: 'PUT' })).ok).toBe(true);
    const url = `s3://${bucket}/archive`;
    const weir = await startWeir({
      env: { ...ENV, ...credentials, ARCHIVE_URL: url, S3_ENDPOINT: endpoint(), S3_PATH_STYLE: 'true' },
    });
    try {
      await archivesEverythingOnce(weir, await openObjectStore({ url, s3: { ...S3, endpoint: endpoint() } }));
    } finally {
      await weir.stop();
    }
  });
});
