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

test('a backup is not restored into a file system that allows no new folders', async () => {
  expect(await cli(['backup', 'restore', folder, '/proc/weir', '--nothing-erased'], { env: {} })).toMatchObject({
    exitCode: 1,
    err: 'weir: cannot create the folder /proc/weir: the file system of /proc allows no new folders\n',
  });
});

test.each([
  ['backup', 'list'],
  ['backup', 'verify'],
  ['archive', 'list'],
  ['archive', 'verify'],
])('weir %s %s says that a folder does not exist, or is no folder', async (group, command) => {
  const missing = join(folder, 'typo');
  const file = join(folder, 'file-of-text');
  writeFileSync(file, '');
  expect(await cli([group, command, missing], { env: {} })).toMatchObject({
    exitCode: 1,
    out: '',
    err: `weir: the folder ${missing} does not exist: check the path\n`,
  });
  expect(await cli([group, command, `file://${file}`, '--json'], { env: {} })).toMatchObject({
    exitCode: 1,
    out: '',
    err: `weir: ${file} is not a folder: check the path\n`,
  });
  expect(await cli([group, command, join(file, 'a')], { env: {} })).toMatchObject({
    exitCode: 1,
    err: `weir: the folder ${join(file, 'a')} does not exist: check the path\n`,
  });
});

test.each(['', 'http://backups.example/weir', 'S3://backups'])(
  'a place that is no folder and no bucket is refused: "%s"',
  async (place) => {
    const calls = [
      ['backup', 'create', place],
      ['archive', 'list', place],
    ];
    for (const call of calls) {
      expect(
        await cli(call, { env: { WEIR_ADMIN_TOKEN: 'x'.repeat(16), WEIR_URL: 'http://127.0.0.1:1' } }),
      ).toMatchObject({
        exitCode: 2,
        err: `weir: <place> must be a folder, file:///folder or s3://bucket/prefix, not "${place}"\n`,
      });
    }
  },
);

test('an error of the operating system has a message of one line', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const restore = ['backup', 'restore', folder, join(file, 'restored'), '--nothing-erased'];
  expect(await cli(restore, { env: {} })).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/^weir: ENOTDIR: .*\n$/),
  });
});

test('the restore of a place without a backup does not ask for a list of erasures', async () => {
  expect(await cli(['backup', 'restore', folder, join(folder, 'restored')], { env: {} })).toMatchObject({
    exitCode: 1,
    err: `weir: there is no backup in ${folder}\n`,
  });
});
