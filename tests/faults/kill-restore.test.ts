import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { startLoad } from '@weir/testkit/load';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { tableDigests } from '../../packages/adapters/test/clickhouse/table-digests.ts';
import { expectExactlyOnce, FAULTS_ENV, faultRandom, say } from './exactly-once.ts';

const EVENTS = 2_000;
const RECORDS_PER_SECOND = 400;
const KILLS = 2;
const STEP_WITHIN_MS = 180_000;
const ENV = { ...FAULTS_ENV, ARCHIVE_LINGER_SECONDS: '1' };
const S3 = { region: 'us-east-1', pathStyle: true };

jest.setTimeout(4 * STEP_WITHIN_MS);

const digestsOf = ({ client }: WeirProcess) => tableDigests((query) => client.sql(query), 'weir');

/** Fills one Weir and archives its records. Then restores a second Weir from this archive alone, and kills it several times during the restore. */
async function restores(env: Readonly<Record<string, string>>, endpoint: string | undefined): Promise<void> {
  const { digests, site, events } = await archiveOne(env, endpoint);
  const random = faultRandom('kill-restore');
  const weir = await startWeir({ env: { ...ENV, ...env } });
  const ask = async (method: string, path: string, status: number, body?: object): Promise<void> => {
    await eventually(`${method} ${path}`, async () => {
      const answer = await weir.client.admin(method, path, body);
      if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`);
      return true;
    });
  };
  const reaches = async (phase: string, kills: number): Promise<void> => {
    for (let killed = 0; killed < kills; killed++) {
      await pause(20 + random() * 1_500); // the kill must happen at a random moment, so the pause is part of the test
      await weir.kill9();
      await weir.restart();
    }
    await eventually(
      `the phase ${phase}`,
      async () => {
        const { text, json } = await weir.client.admin('GET', '/replays/current');
        if ((json as { readonly data: { readonly phase: string } }).data.phase !== phase) throw new Error(text);
        return true;
      },
      STEP_WITHIN_MS,
    );
  };
  try {
    await ask('POST', '/sites', 201, { name: site, domain: 'restored.example', site_id: site });
    await ask('POST', '/replays', 201, { from: 'archive', records_per_second_max: RECORDS_PER_SECOND });
    await reaches('follow', KILLS);
    await ask('POST', '/replays/current/swap', 200);
    await reaches('swapped', 1);
    expect(await digestsOf(weir)).toEqual(digests);
    expect(await weir.client.audit()).toEqual([]);

    const { site: next, key } = await weir.client.createSiteWithKey();
    const load = startLoad({ url: weir.url, site: next, key, clients: 1 });
    await eventually('more events', () => load.acknowledgedKeys.size >= 50, STEP_WITHIN_MS);
    await load.stop();
    await expectExactlyOnce(weir, next, load);
    say(`kill-restore: ${events} events`);
  } finally {
    await weir.stop();
  }
}

async function archiveOne(env: Readonly<Record<string, string>>, endpoint: string | undefined) {
  const weir = await startWeir({ env: { ...ENV, ...env } });
  try {
    const { site, key } = await weir.client.createSiteWithKey();
    const load = startLoad({ url: weir.url, site, key, clients: 4 });
    await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS, STEP_WITHIN_MS);
    await load.stop();
    await expectExactlyOnce(weir, site, load);
    const records = await weir.client.number('SELECT count() FROM outcomes');
    const store = await openObjectStore({ url: env.ARCHIVE_URL ?? '', s3: { ...S3, endpoint } });
    await eventually(
      'all records to be archived',
      async () => {
        const found = await summariseArchive(store, { prefix: 'events.enriched/' });
        return found.flatMap(({ ranges }) => ranges).reduce((sum, [from, to]) => sum + to + 1 - from, 0) >= records;
      },
      STEP_WITHIN_MS,
    );
    store.close();
    return { digests: await digestsOf(weir), site, events: load.acknowledgedKeys.size };
  } finally {
    await weir.stop();
  }
}

test('tables are restored from an archive in a folder, with kills', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-restore-'));
  try {
    await restores({ ARCHIVE_URL: pathToFileURL(folder).href }, undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describeLive('s3', (endpoint) => {
  test('tables are restored from an archive in a bucket, with kills', async () => {
    const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
    Object.assign(process.env, credentials);
    const bucket = `weir-${randomUUID()}`;
    expect((await fetch(`${endpoint()}/${bucket}`, { method: 'PUT' })).ok).toBe(true);
    const archive = { ARCHIVE_URL: `s3://${bucket}/archive`, S3_ENDPOINT: endpoint(), S3_PATH_STYLE: 'true' };
    await restores({ ...credentials, ...archive }, endpoint());
  });
});
