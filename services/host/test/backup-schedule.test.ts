import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { readErasedList, writeErasedList } from '@weir/backup/erased-list';
import { DependencyError } from '@weir/domain/errors';
import { createLogger } from '@weir/runtime/logger';
import { createBackupMetrics } from '@weir/runtime/metrics/backup-metrics';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { createBackupSchedule } from '../src/backup/backup-schedule.ts';
import { runBackups } from '../src/backup/run-backups.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 10, 22);

const folder = mkdtempSync(join(tmpdir(), 'weir-schedule-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('failed attempts at the backup of the schedule are counted, and the next one is made later each time', async () => {
  const place = `file://${join(folder, 'place')}`;
  let now = START;
  const metrics = createMetrics();
  const backups = runBackups({
    source: {
      logId: 'log',
      dataDir: folder,
      freezeTables: () => Promise.reject(new Error('ClickHouse does not answer')),
      copyLog: () => Promise.resolve(),
    },
    erased: () => ({ version: 1, at: 0, tombstones: [] }),
    openStore: (url) => openObjectStore({ url, s3: { endpoint: undefined, region: 'us-east-1', pathStyle: false } }),
    schedule: { to: place, everyMs: 24 * 60 * MINUTE_MS, keep: undefined },
    clock: () => now,
    logger: createLogger('silent'),
    metrics: createBackupMetrics(metrics),
  });
  const attempt = async (to: string) => {
    expect(backups.start({ to, keep: undefined })).toMatchObject({ state: 'running', error: null });
    await eventually('the end of the attempt', () => backups.current()?.state === 'failed');
    return backups.current();
  };
  try {
    expect(backups.current()).toBeUndefined();
    for (const [nth, minutes] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      expect(await attempt(place)).toMatchObject({
        error: 'ClickHouse does not answer',
        failed_attempts: nth + 1,
        next_attempt_at: new Date(now + minutes * MINUTE_MS).toISOString(),
      });
      now += minutes * MINUTE_MS;
    }
    expect(await metrics.metrics()).toContain('weir_backup_failed_attempts 8');
    // A backup to another place does not reset the count of failed attempts.
    expect(await attempt(`file://${join(folder, 'other')}`)).toMatchObject({ failed_attempts: 8 });
  } finally {
    await backups.close();
  }
});

test.each([
  ['in a file system without new folders', '/proc/weir/place', 'the file system of /proc allows no new folders'],
  ['below a file', join(folder, 'file', 'place'), 'ENOTDIR: not a directory'],
])('a backup to a place %s fails before the tables are frozen', async (_, place, reason) => {
  writeFileSync(join(folder, 'file'), '');
  const freezeTables = jest.fn();
  const backups = runBackups({
    source: { logId: 'log', dataDir: folder, freezeTables, copyLog: () => Promise.resolve() },
    erased: () => ({ version: 1, at: 0, tombstones: [] }),
    openStore: (url) => openObjectStore({ url, s3: { endpoint: undefined, region: 'us-east-1', pathStyle: false } }),
    schedule: { to: undefined, everyMs: undefined, keep: undefined },
    clock: () => START,
    logger: createLogger('silent'),
    metrics: createBackupMetrics(createMetrics()),
  });
  try {
    backups.start({ to: `file://${place}`, keep: undefined });
    await eventually('the end of the attempt', () => backups.current()?.state === 'failed');
    expect(backups.current()?.error).toContain(reason);
    expect(freezeTables).not.toHaveBeenCalled();
  } finally {
    await backups.close();
  }
});

const FULL = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

test.each([
  [
    'the data folder',
    FULL,
    `ENOSPC: no space left on device, write: the disk of the data folder ${folder} is full, free some space`,
  ],
  [
    'the place of the backup',
    new DependencyError('object_store_unavailable', 'cannot store x in /mnt: ENOSPC: free disk space', {
      isFull: true,
    }),
    'cannot store x in /mnt: ENOSPC: free disk space',
  ],
  [
    'the frozen tables',
    new DependencyError('analytics_unavailable', 'ClickHouse: No space left on device'),
    `ClickHouse: No space left on device: the disk of the data folder ${folder} is full, free some space`,
  ],
  [
    'the copy of the event log',
    new Error('No space left on device'),
    `No space left on device: the disk of the data folder ${folder} is full, free some space`,
  ],
])(
  'a full disk (%s): the message of the backup names the folder, and says that nothing is lost',
  async (_, error, said) => {
    const backups = runBackups({
      source: {
        logId: 'log',
        dataDir: folder,
        freezeTables: () => Promise.reject(error),
        copyLog: () => Promise.resolve(),
      },
      erased: () => ({ version: 1, at: 0, tombstones: [] }),
      openStore: (url) => openObjectStore({ url, s3: { endpoint: undefined, region: 'us-east-1', pathStyle: false } }),
      schedule: { to: undefined, everyMs: undefined, keep: undefined },
      clock: () => START,
      logger: createLogger('silent'),
      metrics: createBackupMetrics(createMetrics()),
    });
    try {
      backups.start({ to: `file://${join(folder, 'full')}`, keep: undefined });
      await eventually('the end of the attempt', () => backups.current()?.state === 'failed');
      expect(backups.current()?.error).toBe(
        `${said}. No record and no earlier backup is lost. weir backup list shows only complete backups, and the next backup uses the chunks that this one has stored`,
      );
    } finally {
      await backups.close();
    }
  },
);

test('after a failure while the clock was ahead, the next attempt does not wait until the clock reaches that time again', () => {
  const to = 'file:///place';
  const metrics = createBackupMetrics(createMetrics());
  const schedule = createBackupSchedule({ to, everyMs: MINUTE_MS, keep: undefined }, metrics);
  const ahead = START + 24 * 60 * MINUTE_MS;
  schedule.failed(to, ahead);
  expect([schedule.waits(ahead), schedule.waits(START)]).toEqual([true, false]);
});

test('a backup of an empty installation keeps the erasures that are listed in the place', async () => {
  const url = `file://${join(folder, 'shared-place')}`;
  const openStore = () => openObjectStore({ url, s3: { endpoint: undefined, region: 'us-east-1', pathStyle: false } });
  const objects = await openStore();
  const tombstone = { siteId: 'shop', erasureId: 'a', part: 0, at: 5, salt: 'salt', whole: true, entries: [] };
  await writeErasedList(objects, { version: 1, at: 6, tombstones: [tombstone] });
  mkdirSync(join(folder, 'frozen/store'), { recursive: true });
  const backups = runBackups({
    source: {
      logId: 'log',
      dataDir: folder,
      freezeTables: () =>
        Promise.resolve({ partsDir: join(folder, 'frozen'), definitions: [], release: async () => undefined }),
      async copyLog(to) {
        mkdirSync(to, { recursive: true });
        writeFileSync(join(to, 'data.mdb'), 'log');
      },
    },
    erased: () => ({ version: 1, at: START, tombstones: [] }),
    openStore,
    schedule: { to: undefined, everyMs: undefined, keep: undefined },
    clock: () => START,
    logger: createLogger('silent'),
    metrics: createBackupMetrics(createMetrics()),
  });
  try {
    backups.start({ to: url, keep: undefined });
    await eventually('the end of the backup', () => backups.current()?.state !== 'running');
    expect(backups.current()).toMatchObject({ state: 'done', error: null });
    expect(await readErasedList(objects)).toEqual({ version: 1, at: 6, tombstones: [tombstone] });
  } finally {
    await backups.close();
    objects.close();
  }
});

test('a backup with an ID in the future does not stop the backups of the schedule', async () => {
  const url = `file://${join(folder, 'future')}`;
  const openStore = () => openObjectStore({ url, s3: { endpoint: undefined, region: 'us-east-1', pathStyle: false } });
  const objects = await openStore();
  await objects.put('snapshots/20991231T000000Z.json', Buffer.from('{}'));
  jest.useFakeTimers({
    doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'setTimeout', 'clearTimeout', 'Date'],
  });
  const backups = runBackups({
    source: {
      logId: 'log',
      dataDir: folder,
      freezeTables: () => Promise.reject(new Error('of the test')),
      copyLog: () => Promise.resolve(),
    },
    erased: () => ({ version: 1, at: START, tombstones: [] }),
    openStore,
    schedule: { to: url, everyMs: 24 * 60 * MINUTE_MS, keep: 7 },
    clock: () => START,
    logger: createLogger('silent'),
    metrics: createBackupMetrics(createMetrics()),
  });
  try {
    jest.advanceTimersByTime(MINUTE_MS);
    await eventually('the attempt of the schedule', () => backups.current()?.error === 'of the test', 10_000);
  } finally {
    jest.useRealTimers();
    await backups.close();
    objects.close();
  }
});
