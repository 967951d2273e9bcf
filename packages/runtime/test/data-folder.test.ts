import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { eventually } from '@weir/testkit/eventually';
import { startMember } from '../../ports/contract/event-log-member.ts';
import { DATA_FORMAT, lockDataFolder } from '../src/data-folder.ts';

/**
 * A command that runs a process in a separate network, as in a container. If the system does not allow this, `env` runs the process in the
 * normal network.
 */
const APART = [
  ['unshare', '--net'],
  ['unshare', '--map-root-user', '--net'],
].find(([command = '', ...args]) => spawnSync(command, [...args, 'true']).status === 0) ?? ['env'];

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-owners-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
  rmSync(`${folder}-alias`, { force: true });
});

interface Owner {
  /** The records that the log acknowledged to this process: `offset value`. */
  readonly acknowledged: readonly string[];
  readonly ended: Promise<unknown>;
  /** The output of this process on standard error. */
  said(): string;
  kill(): void;
}

function startOwner(name: string, path = folder): Owner {
  const script = require.resolve('./append-as-owner.ts');
  const [command = '', ...args] = APART;
  const child = spawn(command, [...args, process.execPath, '--import', 'tsx', script, path, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const acknowledged: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    // A complete line ends with a dot. The last line of a killed process can be incomplete.
    if (line.endsWith('.')) acknowledged.push(line);
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return { acknowledged, ended, said: () => said, kill: () => void child.kill('SIGKILL') };
}

/** Expects that the log contains each offset once, and each acknowledged record at its offset. */
async function expectExactlyOnce(owners: readonly Owner[]): Promise<void> {
  const retentionMs = () => 3600_000;
  const log = await openLmdbEventLog({ folder: join(folder, 'log'), partitions: 1, clock: Date.now, retentionMs });
  const [position] = await log.positions('t', 'unused');
  const reader = await startMember(log, 't', {});
  const records = await reader.has(0, position?.end ?? 0);
  await reader.subscription.close();
  await log.close();
  expect(records.findIndex(({ offset }, i) => offset !== i)).toBe(-1);
  const stored = new Set(records.map(({ offset, value }) => `${offset} ${Buffer.from(value).toString()}`));
  const acknowledged = owners.flatMap((owner) => owner.acknowledged);
  expect(acknowledged.filter((line) => !stored.has(line))).toEqual([]);
}

describe('one process group at a time uses WEIR_DATA_DIR, and acknowledged records are stored exactly once', () => {
  test('of two processes that share only the folder, one locks it, and the other reports this and ends', async () => {
    const alias = `${folder}-alias`;
    symlinkSync(folder, alias);
    const owners = [startOwner('a'), startOwner('b', alias)];
    const refused = (): boolean => owners.some(({ said }) => said() !== '');
    const appended = (count: number) => owners.filter(({ acknowledged }) => acknowledged.length >= count).length;
    await eventually('one process appends and the other is refused, or both append', () => {
      return appended(500) + Number(refused()) >= 2;
    });
    for (const { kill } of owners) kill();
    await Promise.all(owners.map(({ ended }) => ended));

    await expectExactlyOnce(owners);
    expect(owners.map(({ said }) => said()).toSorted()).toEqual([
      '',
      expect.stringMatching(/^data_folder_in_use: \S+ is in use by another Weir/),
    ]);
  });

  test('a killed process releases the folder at once, and a waiting process continues the log', async () => {
    const first = startOwner('a');
    await eventually('records of the first', () => first.acknowledged.length >= 100);
    const second = startOwner('b');
    first.kill();
    await eventually('records of the second', () => second.acknowledged.length >= 100);
    second.kill();
    await Promise.all([first.ended, second.ended]);
    await expectExactlyOnce([first, second]);
  });
});

test('a path that cannot be a data folder is refused with the reason', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  await expect(lockDataFolder(path)).rejects.toMatchObject({ code: 'data_folder_unusable' });
});

describe('the file `format`', () => {
  const format = () => readFileSync(join(folder, 'format'), 'utf8');

  test.each(['', 'not a number', '0\n'])(
    'with the content %j is replaced by the number of this version',
    async (text) => {
      writeFileSync(join(folder, 'format'), text);
      const opened = await lockDataFolder(folder);
      expect(format()).toBe(`${DATA_FORMAT}\n`);
      await opened.close();
    },
  );

  test('is made in a folder that an older version has used, and a folder of a newer version is refused and not locked', async () => {
    await (await lockDataFolder(folder)).close();
    expect(format()).toBe(`${DATA_FORMAT}\n`);
    writeFileSync(join(folder, 'format'), `${DATA_FORMAT + 1}\n`);
    const message = `has format ${DATA_FORMAT + 1}, and this version reads format ${DATA_FORMAT}. Start the newer version`;
    for (const _ of ['once', 'again']) {
      await expect(lockDataFolder(folder)).rejects.toMatchObject({
        code: 'data_folder_too_new',
        message: expect.stringContaining(message),
      });
    }
    expect(format()).toBe(`${DATA_FORMAT + 1}\n`);
    writeFileSync(join(folder, 'format'), `${DATA_FORMAT}\n`);
    await (await lockDataFolder(folder)).close();
  });
});
