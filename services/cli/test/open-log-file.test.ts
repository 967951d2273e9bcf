import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openLogFile } from '@weir/cli/import/open-log-file';
import { readLines } from '@weir/cli/import/read-lines';
import { readLogBytes } from '@weir/cli/import/read-log-bytes';
import { scanLog } from '@weir/cli/import/scan-log';

const folder = mkdtempSync(join(tmpdir(), 'weir-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TEXT = 'first part\nsecond part\n';
const PACKED: Readonly<Record<string, Buffer>> = {
  plain: Buffer.from(TEXT),
  'gzip of two members': Buffer.concat([gzipSync('first part\n'), gzipSync('second part\n')]),
  // Two frames that the zstd program wrote: Node 20 cannot compress zstd.
  'zstd of two frames': Buffer.from('KLUv/QRYWQAAZmlyc3QgcGFydAqd/2B8KLUv/QRYYQAAc2Vjb25kIHBhcnQK9PEh0Q==', 'base64'),
};

async function lines(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const result: string[] = [];
  for await (const run of readLines(chunks)) result.push(...run);
  return result;
}

describe.each(Object.entries(PACKED))('%s', (name, bytes) => {
  test('gives the same lines and the same digest, independent of the file name, also if the file is renamed', async () => {
    const path = join(folder, `${name}.log`);
    writeFileSync(path, bytes);
    const log = await openLogFile(path);
    expect(await lines(readLogBytes(log))).toEqual(['first part', 'second part']);
    // Renames the file, and gives its name to another file, as logrotate does.
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'another file\n');
    expect(await scanLog(readLogBytes(log))).toEqual({
      digest: '1cdf88e8f10431d464ac866be73789b027a08a54cd5a31dadbe4a1b620b46940',
      lines: 2,
      lastLine: 'second part',
    });
    await log.close();
  });
});

async function* chunked(...chunks: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk as string);
}

test.each([
  [[''], []],
  [['a'], ['a']],
  [
    ['a\n', '\nb\n'],
    ['a', '', 'b'],
  ],
  [
    ['a\r\nb', 'c\n'],
    ['a\r', 'bc'],
  ],
  [['x\u2028y\n'], ['x\u2028y']],
])('lines of %j', async (chunks, expected) => {
  expect(await lines(chunked(...chunks))).toEqual(expected);
  expect((await scanLog(chunked(...chunks))).lines).toBe(expected.length);
});

test('a character that is split between two chunks, and a very long line', async () => {
  const [first, second] = [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])];
  expect(await lines(chunked(first, second))).toEqual(['é']);
  const [endless] = await lines(chunked(...Array.from({ length: 40 }, () => 'x'.repeat(10_000)), '\n'));
  expect(endless?.length).toBeLessThan(80_000);
});
