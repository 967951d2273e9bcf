import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { mustRunWeir, runWeir, startWeir, type WeirProcess } from '@weir/testkit/weir-process';

const folders: string[] = [];

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-erased-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const rowsThatName = (weir: WeirProcess, name: string) =>
  weir.client.number(
    `SELECT (SELECT count() FROM records WHERE user_id = '${name}' OR visitor_id = '${name}') +
      (SELECT count() FROM profiles WHERE user_id = '${name}') + (SELECT count() FROM sessions WHERE visitor_id = '${name}')`,
  );

async function erasedSince(restored: WeirProcess): Promise<void> {
  // These are the first queries after the start: Weir must not answer queries before the persons are erased.
  for (const name of ['anna', 'bob']) expect([name, await rowsThatName(restored, name)]).toEqual([name, 0]);
  expect(await rowsThatName(restored, 'carl')).toBeGreaterThan(0);
  await eventually('a balanced audit', async () => {
    const audit = (await restored.client.must(200, 'GET', '/audit')) as {
      balanced: boolean;
      totals: { erased: number };
    };
    return audit.balanced && audit.totals.erased > 0;
  });
}

test('persons who were erased after a backup do not come back with it', async () => {
  const [place, other] = [makeFolder(), makeFolder()];
  const weir = await startWeir({ env: { WEIR_BACKUP_TO: `file://${place}` } });
  const { client } = weir;
  const { site, key } = await client.createSiteWithKey();
  await client.keyKnown(key);
  for (const name of ['anna', 'bob', 'carl']) {
    await client.identify(key, { visitor_id: name, user_id: name, email: `${name}@example.com` });
    await client.events(key, { name: 'seen', visitor_id: name, session_id: `session-${name}` });
    await client.events(key, { name: 'named', user_id: name });
  }
  await client.settled();
  for (const folder of [place, other]) await mustRunWeir(client, 'backup', 'create', folder);
  // The backups contain Anna and Bob, who are erased now.
  await mustRunWeir(client, 'forget', '--site', site, '--user', 'anna');
  const list = join(makeFolder(), 'erased.json');
  writeFileSync(list, await mustRunWeir(client, 'forget', '--list', '--json'));
  const [old] = (await mustRunWeir(client, 'backup', 'list', place)).split('\n');
  await mustRunWeir(client, 'forget', '--site', site, '--user', 'bob');
  writeFileSync(list, await mustRunWeir(client, 'forget', '--list', '--json'));
  expect(await mustRunWeir(client, 'forget', '--list')).toMatch(/erasure_.*\n.*erasure_/);
  await weir.stop();

  // Each erasure has also updated the list of erasures in `place`, because the scheduled backups go there.
  const fromPlace = join(makeFolder(), 'restored');
  const said = await mustRunWeir(client, 'backup', 'restore', place, fromPlace, '--id', old as string);
  expect(said).toContain('2 erasures that the tables of the backup lack');
  const restored = await startWeir({ dataDir: fromPlace });
  await erasedSince(restored);
  await restored.stop();

  // In `other`, the list of erasures is only as new as the newest backup. So the operator gives the newer list.
  const fromOther = join(makeFolder(), 'restored');
  await mustRunWeir(client, 'backup', 'restore', other, fromOther, '--erased', list);
  const second = await startWeir({ dataDir: fromOther });
  await erasedSince(second);
  // After a kill and a restart, the persons are still erased.
  await second.kill9();
  await second.restart();
  await erasedSince(second);
  await second.stop();

  rmSync(join(other, 'erased.json'));
  const refused = makeFolder();
  const restore = (name: string) => ['backup', 'restore', other, join(refused, name)];
  expect(await runWeir(client, restore('a'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--nothing-erased'),
  });
  writeFileSync(list, '{"version": 1}');
  expect(await runWeir(client, [...restore('b'), '--erased', list])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a list of erasures'),
  });
  await mustRunWeir(client, ...restore('c'), '--nothing-erased');
}, 300_000);
