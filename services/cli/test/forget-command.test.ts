import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOf, erasureHash } from '@weir/domain/erasure/tombstone';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from '../../control/test/control-harness.ts';
import { cli } from './cli-harness.ts';

let weir: ControlHarness;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  weir = await openControlHarness();
  folder = mkdtempSync(join(tmpdir(), 'weir-cli-'));
  env = { WEIR_URL: weir.url, WEIR_ADMIN_TOKEN: ADMIN_TOKEN };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await weir.close();
});

function file(name: string, bytes: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

test.each([
  ['lf', 'ada\nbob\n'],
  ['crlf', 'ada\r\n\r\nbob'],
  ['byte-order-mark', '\uFEFFada\r\nbob\r\n'],
])('a file of IDs (%s): every ID of the file is erased', async (site, text) => {
  await cli(['site', 'add', 'example.com', '--id', site], { env });
  const path = file(`${site}.txt`, text);
  const run = await cli(['forget', '--site', site, '--user-file', path, '--visitor-file', path, '--json'], { env });
  expect([run.exitCode, run.json]).toMatchObject([0, { phase: 'done', users: 2, visitors: 2 }]);
  const [{ salt, entries } = { salt: '', entries: [] }] = weir.registry.tombstones(site);
  for (const id of ['ada', 'bob']) {
    expect(entries).toContain(entryOf('u', erasureHash(salt, site, 'u', id)));
    expect(entries).toContain(entryOf('v', erasureHash(salt, site, 'v', id)));
  }
});

test('a file that cannot be read, or that is not UTF-8, is refused, and nothing is erased', async () => {
  await cli(['site', 'add', 'example.com', '--id', 'refused'], { env });
  const forget = (path: string) => cli(['forget', '--site', 'refused', '--user-file', path], { env });
  const missing = join(folder, 'missing.txt');
  expect(await forget(missing)).toMatchObject({ exitCode: 2, err: `weir: cannot read ${missing}: ENOENT\n` });
  const utf16 = file('utf16.txt', Buffer.from('\uFEFFada\r\n', 'utf16le'));
  expect(await forget(utf16)).toMatchObject({
    exitCode: 2,
    err: `weir: ${utf16} is not UTF-8 text: save it as UTF-8\n`,
  });
  expect(weir.registry.tombstones('refused')).toEqual([]);
});
