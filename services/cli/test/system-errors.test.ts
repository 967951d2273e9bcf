import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli } from './cli-harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-errors-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('an admin token that cannot be read is a wrong setting, with a message of one line', async () => {
  // A folder cannot be read as a file, not even by root.
  const file = join(folder, 'admin-token');
  mkdirSync(file);
  expect(await cli(['site', 'list'], { env: { WEIR_DATA_DIR: folder } })).toMatchObject({
    exitCode: 2,
    err: `weir: cannot read the admin token in ${file} (EISDIR): run this command as the user of Weir, or set WEIR_ADMIN_TOKEN\n`,
  });
});

test('an error of the operating system has a message of one line', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const restore = ['backup', 'restore', folder, join(file, 'restored'), '--nothing-erased'];
  expect(await cli(restore, { env: {} })).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/^weir: ENOTDIR: .*\n$/),
  });
});
