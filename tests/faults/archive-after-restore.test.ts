import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { eventually } from '@weir/testkit/eventually';
import { mustRunWeir, runWeir, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
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
  const { key } = await weir.client.createSiteWithKey();
  await weir.client.keyKnown(key);
  await send(weir, key, 'kept', 40);
  await eventually('the records are archived', async () => (await archivedWith('"kept"')) === 40);
  await weir.client.settled();
  await mustRunWeir(weir.client, 'backup', 'create', place);
  const known: string[] = [];
  for await (const { name } of archive.list('events.')) known.push(name);
  await send(weir, key, 'lost', 40);
  await eventually('the records are archived', async () => (await archivedWith('"lost"')) === 40);
  await weir.stop();

  const said = await mustRunWeir(weir.client, 'backup', 'restore', place, restoredFolder);
  expect(said).toContain('The archive after a restore');
  const restored = await startWeir({ dataDir: restoredFolder, env });
  try {
    const question = 'was the log restored from a backup?';
    await restored.client.keyKnown(key);
    await send(restored, key, 'new', 60);
    await eventually('an alarm', () => restored.output().includes(question));
    expect([await archivedWith('"lost"'), await archivedWith('"new"')]).toEqual([40, 0]);
    expect(await mustRunWeir(restored.client, 'status')).toContain(question);
    const refused = { code: 1, stderr: expect.stringContaining(question) };
    expect(await runWeir(restored.client, ['replay', 'start', '--from', 'archive'])).toMatchObject(refused);
    for await (const { name } of archive.list('events.')) if (!known.includes(name)) await archive.delete(name);
    await eventually('the new records are archived', async () => (await archivedWith('"new"')) === 60);
    expect([await archivedWith('"kept"'), await archivedWith('"lost"')]).toEqual([40, 0]);
  } finally {
    await restored.stop();
  }
}, 300_000);
