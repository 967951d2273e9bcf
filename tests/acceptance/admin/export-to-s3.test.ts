import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { describeLive } from '@weir/testkit/live-ports';
import { commandEnv, runProgram } from '@weir/testkit/weir-process';
import { useWeir } from '../use-weir.ts';
import { makeExportTraffic } from './export-traffic.ts';

const client = useWeir();
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

describeLive('s3', (endpoint) => {
  const bucket = `exports-${randomUUID()}`;
  let site = '';
  beforeAll(async () => {
    expect((await fetch(`${endpoint()}/${bucket}`, { method: 'PUT' })).ok).toBe(true);
    site = await client.createSite();
    await makeExportTraffic(client, site);
  });

  const run = (to: string, ...args: readonly string[]) =>
    runProgram('weir.js', ['export', 'events', '--site', site, '--to', to, ...args], {
      ...commandEnv(client),
      ...CREDENTIALS,
      S3_ENDPOINT: endpoint(),
      S3_PATH_STYLE: 'true',
    });
  const stored = async (name: string): Promise<Buffer> => {
    Object.assign(process.env, CREDENTIALS);
    const s3 = { endpoint: endpoint(), region: 'us-east-1', pathStyle: true };
    const objects = await openObjectStore({ url: `s3://${bucket}`, s3 });
    const found = await objects.get(name);
    if (found === undefined) throw new Error(`${name} is not stored`);
    const content = await buffer(found);
    objects.close();
    return content;
  };

  test('weir export --to s3:// stores what it writes to a file, compressed if the name ends in .gz', async () => {
    expect(await run(`s3://${bucket}/a/events.ndjson`)).toMatchObject({ code: 0 });
    const plain = (await stored('a/events.ndjson')).toString();
    const rows = await client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site });
    expect(plain.trim().split('\n')).toHaveLength(rows);
    expect(await run(`s3://${bucket}/a/events.ndjson.gz`)).toMatchObject({ code: 0 });
    // The lines are sorted, because the rows of an export have no fixed order.
    const lines = (text: string): readonly string[] => text.split('\n').sort();
    expect(lines(gunzipSync(await stored('a/events.ndjson.gz')).toString())).toEqual(lines(plain));
  });

  test('a bucket that does not exist, and a URL without a name, are refused and store nothing', async () => {
    const noBucket = await run(`s3://none-${bucket}/events.ndjson`);
    expect(noBucket).toMatchObject({ code: 1, stderr: expect.stringContaining('the export is incomplete') });
    const noName = await run(`s3://${bucket}`);
    expect(noName).toMatchObject({ code: 2, stderr: expect.stringContaining('--to must be s3://bucket/name') });
  });
});
