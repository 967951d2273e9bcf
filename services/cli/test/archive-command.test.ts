import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { expiredStartName } from '@weir/runtime/archive/expired-start';
import { createSegmentEncoder } from '@weir/runtime/archive/segment-encoder';
import { segmentFolder, segmentName } from '@weir/runtime/archive/segment-name';
import { runProgram } from '@weir/testkit/weir-process';
import { cli } from './cli-harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-archive-'));
const PARTITION = { topic: 'events.raw', logId: 'log-1', partition: 0 };
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(() => storeSegments(folder));

async function storeSegments(place: string): Promise<void> {
  const s3 = { endpoint: undefined, region: 'us-east-1', pathStyle: false };
  const objects = await openObjectStore({ url: pathToFileURL(place).href, s3 });
  for (const [from, to] of [
    [0, 9],
    [10, 19],
    [25, 30],
  ] as const) {
    const encoder = createSegmentEncoder();
    for (let offset = from; offset <= to; offset++) {
      await encoder.add({ offset, appendedAt: 1_790_000_000_000, headers: {}, value: Buffer.from('{}') });
    }
    const range = { ...PARTITION, from, to };
    await objects.put(segmentName(range), Buffer.concat(await encoder.finish(range)));
  }
}

const run = (...args: readonly string[]) => runProgram('weir.js', ['archive', ...args], {});

test('list prints the partitions and their gaps', async () => {
  expect(JSON.parse((await run('list', folder, '--json')).stdout)).toEqual([
    {
      ...PARTITION,
      expiredBefore: 0,
      segments: 3,
      bytes: expect.any(Number),
      ranges: [
        [0, 19],
        [25, 30],
      ],
    },
  ]);
  expect((await run('list', pathToFileURL(folder).href)).stdout).toMatch(/events\.raw +log-1 +0 +3 +\d+ +0-30 +20-24/);
});

test('verify names the damaged segments and ends with 1', async () => {
  expect(await run('verify', folder)).toMatchObject({ code: 0, stdout: '3 segments are complete and undamaged.\n' });
  const place = join(folder, segmentFolder(PARTITION));
  writeFileSync(join(place, readdirSync(place)[1] as string), 'damaged');
  const damaged = await run('verify', folder);
  expect(damaged).toMatchObject({ code: 1, stderr: 'weir: damaged segments: 1\n' });
  expect(damaged.stdout).toContain('0000000000000010-0000000000000019.jsonl.gz cannot be read');
});

test('segments that expire while verify runs are not damaged', async () => {
  const place = mkdtempSync(join(tmpdir(), 'weir-archive-'));
  await storeSegments(place);
  const start = join(place, expiredStartName({ ...PARTITION, next: 20 }));
  const stderr = Object.assign(
    new Writable({
      // The command writes here when it has read the first segment. The first two of the three segments then expire.
      write(_chunk, _encoding, done) {
        mkdirSync(dirname(start), { recursive: true });
        writeFileSync(start, JSON.stringify({ rawNext: 20, storedAt: 0 }));
        for (const [from, to] of [
          [0, 9],
          [10, 19],
        ] as const) {
          rmSync(join(place, segmentName({ ...PARTITION, from, to })), { force: true });
        }
        done();
      },
    }),
    { isTTY: true },
  );
  const verified = await cli(['archive', 'verify', place], { env: {}, stderr });
  expect(verified).toMatchObject({ exitCode: 0, out: '2 segments are complete and undamaged.\n' });
  rmSync(place, { recursive: true });
});

test('verify of a place without segments is an error', async () => {
  const empty = join(folder, 'elsewhere');
  mkdirSync(empty);
  expect(await run('verify', empty)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('elsewhere has no segments of an archive'),
  });
});

test('a command that uses S3 prints no notice of the AWS SDK about the version of Node', async () => {
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const env = { S3_ENDPOINT: 'http://127.0.0.1:1', S3_PATH_STYLE: 'true', ...credentials };
  const { code, stderr } = await runProgram('weir.js', ['archive', 'list', 's3://archive/weir'], env);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^weir: cannot list .*ECONNREFUSED.*\n$/)]);
});

test('a place that is no URL of an object store is refused', async () => {
  expect(await run('list', 's3://UPPER')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must be file:///folder or s3://bucket/prefix'),
  });
});
