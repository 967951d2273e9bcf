import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { eventually } from '@weir/testkit/eventually';
import { runProgram, startWeir, TEST_ADMIN_TOKEN, type WeirProcess } from '@weir/testkit/weir-process';
import { archivedRecords } from '../../services/archiver/test/archived-records.ts';

const home = mkdtempSync(join(tmpdir(), 'weir-archive-after-restore-'));
const [place, folder, restoredFolder] = ['backups', 'archive', 'restored'].map((name) => join(home, name)) as [
  string,
  string,
  string,
];
const env = { ARCHIVE_URL: pathToFileURL(folder).href, ARCHIVE_LINGER_SECONDS: '1' };
const archive = openFileObjectStore(folder);
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function weirCommand(weir: WeirProcess, code: number, ...args: readonly string[]): Promise<string> {
  const ended = await runProgram('weir.js', args, { WEIR_URL: weir.url, WEIR_ADMIN_TOKEN: TEST_ADMIN_TOKEN });
  expect([ended.code, ended.stderr]).toEqual([code, expect.anything()]);
  return `${ended.stdout}${ended.stderr}`;
}

/** Counts the archived records of `events.raw` that contain this text. */
async function archivedWith(text: string): Promise<number> {
  const records = await archivedRecords(archive, 'events.raw');
  return records.filter(({ value }) => Buffer.from(value).includes(text)).length;
}

async function send(weir: WeirProcess, key: string, name: string, events: number): Promise<void> {
  for (let nth = 0; nth < events; nth++) {
    expect((await weir.client.events(key, { name, user_id: `user-${nth}` })).status).toBe(202);
  }
}

test('after a restore, the archive does not mix the lost records with new ones', async () => {
  const weir = await startWeir({ env });
  const site = await weir.client.createSite();
  const { key } = await weir.client.createKey(site);
  await weir.client.keyKnown(key);
  await send(weir, key, 'kept', 40);
  await eventually('the records are archived', async () => (await archivedWith('"kept"')) === 40);
  await weir.client.settled();
  await weirCommand(weir, 0, 'backup', 'create', place);
  const known: string[] = [];
  for await (const { name } of archive.list('events.')) known.push(name);
  await send(weir, key, 'lost', 40);
  await eventually('the records are archived', async () => (await archivedWith('"lost"')) === 40);
  await weir.stop();

  const said = await weirCommand(weir, 0, 'backup', 'restore', place, restoredFolder);
  expect(said).toContain('The archive after a restore');
  const restored = await startWeir({ dataDir: restoredFolder, env });
  try {
    await restored.client.keyKnown(key);
    await send(restored, key, 'new', 60);
    await eventually('an alarm', () => restored.output().includes('was the log restored from a backup?'));
    expect([await archivedWith('"lost"'), await archivedWith('"new"')]).toEqual([40, 0]);
    expect(await weirCommand(restored, 0, 'status')).toContain('was the log restored from a backup?');
    expect(await weirCommand(restored, 1, 'replay', 'start', '--from', 'archive')).toContain(
      'was the log restored from a backup?',
    );
    for await (const { name } of archive.list('events.')) if (!known.includes(name)) await archive.delete(name);
    await eventually('the new records are archived', async () => (await archivedWith('"new"')) === 60);
    expect([await archivedWith('"kept"'), await archivedWith('"lost"')]).toEqual([40, 0]);
  } finally {
    await restored.stop();
  }
}, 300_000);
