import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DependencyError } from '@weir/domain/errors';
import type { WritersPause } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { assertOutsideCopies, type BackupSourceDeps, createBackupSource } from '../src/backup/backup-source.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'weir-backup-source-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

test('if the event log stores the request for a pause, but neither its answer nor its end, the pause is ended later', async () => {
  let pause: WritersPause | undefined;
  let failures = 2;
  const registry = {
    writersPause: () => pause,
    expiry: () => undefined,
    erasures: () => [],
    async putWritersPause(next: WritersPause) {
      if (!next.over) pause = next;
      if (failures-- > 0) throw new DependencyError('event_log_unavailable', 'the disk is full');
      pause = next;
    },
  };
  const eventLog = { logId: 'log', positions: async () => [{ partition: 0 }] };
  const deps = { dataDir, database: 'weir', analytics: {}, registry, eventLog, clock: Date.now };
  const source = createBackupSource({ ...deps, logger: createLogger('silent') } as unknown as BackupSourceDeps);
  await expect(source.freezeTables()).rejects.toMatchObject({ code: 'event_log_unavailable' });
  expect(pause?.over).toBe(false);
  await eventually('the end of the pause', async () => pause?.over === true);
  await eventually('the file of the pause to be removed', async () => !existsSync(join(dataDir, 'backup-pause')));
});

test('if the frozen parts of a failed backup cannot be removed, the pause is ended, and the backup reports its own error', async () => {
  let pause: WritersPause | undefined;
  const folder = join(dataDir, 'shadow-blocked');
  const warned: string[] = [];
  const registry = {
    writersPause: () => pause,
    expiry: () => undefined,
    erasures: () => [],
    async putWritersPause(next: WritersPause) {
      pause = next;
    },
  };
  const eventLog = {
    logId: 'log',
    positions: async () => [{ partition: 0, committed: 0, metadata: JSON.stringify({ n: 0, p: pause?.swap ?? 0 }) }],
  };
  const analytics = {
    async freezeTables() {
      mkdirSync(join(folder, 'clickhouse'), { recursive: true });
      // This file is at the path of the folder of the frozen parts. So `rm` fails, as it does while ClickHouse adds hard links.
      writeFileSync(join(folder, 'clickhouse/shadow'), '');
      throw new DependencyError('analytics_unavailable', 'ClickHouse does not answer');
    },
  };
  const logger = { warn: (_: object, message: string) => void warned.push(message) };
  const deps = { dataDir: folder, database: 'weir', analytics, registry, eventLog, clock: Date.now, logger };
  mkdirSync(folder);
  const source = createBackupSource(deps as unknown as BackupSourceDeps);
  await expect(source.freezeTables()).rejects.toThrow('ClickHouse does not answer');
  expect(pause).toMatchObject({ over: true });
  expect(warned).toEqual([expect.stringContaining('cannot be removed')]);
});

test('an error of the file system does not stop the attempts to end the pause', async () => {
  let pause: WritersPause | undefined = { swap: 7, owner: 'backup', over: false, requestedAt: 1 };
  const file = join(dataDir, 'backup-pause');
  const warned: unknown[] = [];
  const registry = {
    writersPause: () => pause,
    async putWritersPause(next: WritersPause) {
      if (warned.length === 0) {
        // Replaces the file by a folder, so that the next attempt to end the pause cannot read it.
        rmSync(file);
        mkdirSync(file);
        throw new DependencyError('event_log_unavailable', 'the disk is full');
      }
      pause = next;
    },
  };
  const logger = { warn: ({ err }: { err?: { code: string } }) => void warned.push(err?.code) };
  const deps = {
    dataDir,
    database: 'weir',
    analytics: {},
    registry,
    eventLog: { logId: 'log' },
    clock: Date.now,
    logger,
  };
  await createBackupSource(deps as unknown as BackupSourceDeps).recover();
  expect(pause.over).toBe(false);
  await eventually('an attempt that cannot read the file', () => warned.includes('EISDIR'));
  rmSync(file, { recursive: true });
  writeFileSync(file, '7');
  await eventually('the end of the pause', () => pause?.over === true && !existsSync(file));
});

test('a pause of a backup whose file is gone is ended at the start, but not a pause for a swap', async () => {
  let pause: WritersPause = { swap: 4, owner: 'swap', over: false, requestedAt: 1 };
  const registry = {
    writersPause: () => pause,
    async putWritersPause(next: WritersPause) {
      pause = next;
    },
  };
  const deps = { dataDir, database: 'weir', analytics: {}, registry, eventLog: { logId: 'log' }, clock: Date.now };
  const source = createBackupSource({ ...deps, logger: createLogger('silent') } as unknown as BackupSourceDeps);
  await source.recover();
  expect(pause.over).toBe(false);
  pause = { ...pause, owner: 'backup' };
  await source.recover();
  expect(pause).toMatchObject({ swap: 4, over: true });
});

test('a backup that takes the number of a swap is refused, and the swap keeps its pause', async () => {
  let pause: WritersPause | undefined;
  const registry = {
    writersPause: () => pause,
    expiry: () => undefined,
    erasures: () => [],
    async putWritersPause(next: WritersPause) {
      pause = next;
    },
  };
  const eventLog = {
    logId: 'log',
    async positions() {
      // A replay begins a swap (docs/glossary.md) after the backup has seen that the writer is not paused.
      pause ??= { swap: 1, owner: 'swap', over: false, requestedAt: Date.now() };
      return [{ partition: 0, committed: 0, metadata: JSON.stringify({ n: 0, p: 1 }) }];
    },
  };
  const deps = { dataDir, database: 'weir', analytics: {}, registry, eventLog, clock: Date.now };
  const source = createBackupSource({ ...deps, logger: createLogger('silent') } as unknown as BackupSourceDeps);
  await expect(source.freezeTables()).rejects.toMatchObject({ code: 'analytics_unavailable' });
  expect(pause).toMatchObject({ owner: 'swap', over: false });
});

interface Changing {
  readonly erasures: readonly object[];
  readonly expiry?: object | undefined;
}

/** Opens a source whose registry has other erasures, and perhaps an expiry, as soon as the tables are frozen. */
function openSource(before: Changing, then: Changing) {
  let pause: WritersPause | undefined;
  let isFrozen = false;
  const registry = {
    writersPause: () => pause,
    expiry: () => (isFrozen ? then : before).expiry,
    erasures: () => (isFrozen ? then : before).erasures,
    async putWritersPause(next: WritersPause) {
      pause = next;
    },
  };
  const eventLog = {
    logId: 'log',
    positions: async () => [{ partition: 0, committed: 0, metadata: JSON.stringify({ n: 0, p: pause?.swap ?? 0 }) }],
  };
  const analytics = {
    async freezeTables() {
      isFrozen = true;
    },
  };
  const metadata = join(dataDir, 'clickhouse/metadata');
  const tables = join(dataDir, 'clickhouse/store/661/661344b8-9b92-4985-aaa3-51b9e35dcb55');
  mkdirSync(metadata, { recursive: true });
  mkdirSync(tables, { recursive: true });
  writeFileSync(join(metadata, 'weir.sql'), "ATTACH DATABASE weir UUID '661344b8-9b92-4985-aaa3-51b9e35dcb55'");
  const deps = { dataDir, database: 'weir', analytics, registry, eventLog, clock: Date.now };
  const source = createBackupSource({ ...deps, logger: createLogger('silent') } as unknown as BackupSourceDeps);
  return { source, isFrozen: () => isFrozen, pause: () => pause };
}

const WAITING = { erasures: [{ erasureId: 'a', phase: 'waiting' }] };

test.each([
  ['an erasure begins', { erasures: [{ erasureId: 'a', phase: 'deleting' }] }],
  ['an erasure begins and ends', { erasures: [{ erasureId: 'a', phase: 'done' }] }],
  ['an expiry begins', { ...WAITING, expiry: { expiryId: 'b' } }],
])('a backup is refused if %s before the tables are frozen', async (_, then) => {
  const { source, isFrozen, pause } = openSource(WAITING, then);
  await expect(source.freezeTables()).rejects.toThrow('an erasure or the removal of expired rows');
  expect(isFrozen()).toBe(true);
  expect(pause()).toMatchObject({ over: true });
});

test('a backup is made while an erasure only waits until it can write its tombstones', async () => {
  const finished = { erasures: [{ erasureId: 'a', phase: 'deleting', finishedAt: 1 }] };
  const { source, pause } = openSource(finished, finished);
  const { release } = await source.freezeTables();
  await release();
  expect(pause()).toMatchObject({ over: true });
});

test('a start removes the copies of an interrupted backup, also those of an earlier version, but no backup in the folder `backup`', async () => {
  const folder = mkdtempSync(join(dataDir, 'former-'));
  const deps = { dataDir: folder, registry: { writersPause: () => undefined }, eventLog: {}, analytics: {} };
  const source = createBackupSource({ ...deps, logger: createLogger('silent') } as unknown as BackupSourceDeps);
  for (const name of ['backup/log', 'backup-copies/log']) mkdirSync(join(folder, name), { recursive: true });
  await source.recover();
  expect(['backup', 'backup-copies'].filter((name) => existsSync(join(folder, name)))).toEqual([]);
  for (const name of ['backup/log', 'backup/chunks']) mkdirSync(join(folder, name), { recursive: true });
  await source.recover();
  expect(existsSync(join(folder, 'backup/chunks'))).toBe(true);
});

test.each(['', '/', '/below', '/../backup-copies'])(
  'a backup to backup-copies%s in the data folder is refused',
  (end) => {
    expect(() => assertOutsideCopies(`${pathToFileURL(dataDir).href}/backup-copies${end}`, dataDir)).toThrow(
      'choose another folder',
    );
  },
);

test.each(['/backup', '/backup-copies-2', ''])('a backup to %s in the data folder is allowed', (name) => {
  expect(() => assertOutsideCopies(pathToFileURL(dataDir).href + name, dataDir)).not.toThrow();
});
