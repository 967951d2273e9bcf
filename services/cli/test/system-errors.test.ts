import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cli } from './cli-harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-errors-'));
/** A place with an empty backup. */
const backups = join(folder, 'backups');
mkdirSync(join(backups, 'snapshots'), { recursive: true });
writeFileSync(join(backups, 'snapshots/20261122T030000Z.json'), JSON.stringify({ version: 1, items: [] }));
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
  expect(await cli(['backup', 'restore', backups, '/proc/weir', '--nothing-erased'], { env: {} })).toMatchObject({
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
  const restore = ['backup', 'restore', backups, join(file, 'restored'), '--nothing-erased'];
  expect(await cli(restore, { env: {} })).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/^weir: ENOTDIR: .*\n$/),
  });
});

test.each([
  [['backup', 'restore'], ['/nowhere']],
  [
    ['backup', 'restore'],
    ['/nowhere', '--nothing-erased'],
  ],
  [['backup', 'verify'], []],
])('weir %j PLACE %j says that a place has no backup, and writes nothing', async (command, more) => {
  const relativePath = relative('.', folder);
  expect(await cli([...command, `${relativePath}/`, ...more], { env: {} })).toMatchObject({
    exitCode: 1,
    out: '',
    err: `weir: there is no backup in ${folder}\n`,
  });
  expect(existsSync('/nowhere')).toBe(false);
});

test('weir backup list and archive list name the place that they have read, if it has nothing', async () => {
  const place = relative('.', folder);
  expect(await cli(['backup', 'list', place], { env: {} })).toMatchObject({
    exitCode: 0,
    out: `no backups in ${folder}\n`,
  });
  expect(await cli(['archive', 'list', place], { env: {} })).toMatchObject({
    exitCode: 0,
    out: `${folder} has no segments of an archive: give the value of ARCHIVE_URL\n`,
  });
});

test.each([['.'], ['sub'], ['sub/folder']])('no backup is restored into its own place: %s', async (name) => {
  const into = join(backups, name);
  const place = pathToFileURL(backups).href;
  expect(await cli(['backup', 'restore', `${place}/`, into, '--nothing-erased'], { env: {} })).toMatchObject({
    exitCode: 2,
    out: '',
    err: `weir: ${into} is in ${backups}, the place of the backups: name a folder outside\n`,
  });
  expect(readdirSync(backups)).toEqual(['snapshots']);
});

test('a wrong ID of a backup leaves no folder, and the message names the command that lists the IDs', async () => {
  const into = join(folder, 'restored');
  const restore = ['backup', 'restore', backups, into, '--nothing-erased', '--id', '20200101T000000Z'];
  expect(await cli(restore, { env: {} })).toMatchObject({
    exitCode: 1,
    err: 'weir: there is no backup 20200101T000000Z: weir backup list prints all backups\n',
  });
  expect(existsSync(into)).toBe(false);
});

test('after an interrupted restore, the message says what to do', async () => {
  const into = join(folder, 'interrupted');
  mkdirSync(join(into, 'restore.part'), { recursive: true });
  expect(await cli(['backup', 'restore', backups, into, '--nothing-erased'], { env: {} })).toMatchObject({
    exitCode: 1,
    err: `weir: a restore into ${into} was interrupted or still runs. If none runs, delete the content of this folder, and run the command again\n`,
  });
});

test.each([
  ['backup', 'create'],
  ['archive', 'verify'],
])('weir %s %s --help explains <place>', async (...command) => {
  expect((await cli([...command, '--help'], { env: {} })).out).toContain('<place> is ');
});
