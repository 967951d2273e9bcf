import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { eventually } from '@weir/testkit/eventually';
import { startMember } from '../../ports/contract/event-log-member.ts';
import { lockDataFolder } from '../src/data-folder.ts';

/** As two containers on one volume: each with a network of its own. Where that is not allowed: two processes. */
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
  /** What it was told is stored: `offset value`. */
  readonly acknowledged: readonly string[];
  readonly ended: Promise<unknown>;
  /** What it said on standard error. */
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
    // The last line of a killed process may be cut.
    if (line.endsWith('.')) acknowledged.push(line);
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return { acknowledged, ended, said: () => said, kill: () => void child.kill('SIGKILL') };
}

/** Each offset is in the log once, and so is each acknowledged record, under the offset that was said. */
async function expectExactlyOnce(owners: readonly Owner[]): Promise<void> {
  const retentionMs = () => 3600_000;
  const log = await openLmdbEventLog({ folder: join(folder, 'log'), partitions: 1, clock: Date.now, retentionMs });
  const [position] = await log.positions('t', 'nobody');
  const reader = await startMember(log, 't', {});
  const records = await reader.has(0, position?.end ?? 0);
  await reader.subscription.close();
  await log.close();
  expect(records.findIndex(({ offset }, i) => offset !== i)).toBe(-1);
  const stored = new Set(records.map(({ offset, value }) => `${offset} ${Buffer.from(value).toString()}`));
  const acknowledged = owners.flatMap((owner) => owner.acknowledged);
  expect(acknowledged.filter((line) => !stored.has(line))).toEqual([]);
}

describe('decisions: WEIR_DATA_DIR: one process group at a time; what was acknowledged is stored exactly once', () => {
  test('two that share nothing but the folder: one of them has it, the other one says so and ends', async () => {
    const alias = `${folder}-alias`;
    symlinkSync(folder, alias);
    const owners = [startOwner('a'), startOwner('b', alias)];
    const refused = (): boolean => owners.some(({ said }) => said() !== '');
    const appended = (count: number) => owners.filter(({ acknowledged }) => acknowledged.length >= count).length;
    await eventually('one that owns and one that is refused, or two that own', () => {
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

  test('a killed owner has let go at once: the one that waits goes on with the log', async () => {
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

test('what can not be a data folder is refused with the reason', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  await expect(lockDataFolder(path)).rejects.toMatchObject({ code: 'data_folder_unusable' });
});
