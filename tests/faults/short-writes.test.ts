import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allocateFiles } from '@weir/adapters/lmdb/lmdb-allocate-files';
import {
  BEGINNING,
  dropTokens,
  logFile,
  readTokens,
  removeDamagedLines,
} from '@weir/embedded-clickhouse/tokens/token-log';
import { mountSmallDisk, type SmallDisk, whyNoMount } from './small-disk.ts';

const DISK_MB = 1;
/** The free space on the disk. If a program writes more bytes at once, the system writes only as many as fit, and reports no error. */
const LEFT_BYTES = 8 * 1024;

const reason = whyNoMount();
if (reason !== undefined && process.env.CI === 'true') {
  test('short writes', () => {
    throw new Error(reason);
  });
}
const onSmallDisks = reason === undefined ? describe : describe.skip;

onSmallDisks(`a disk with space for a part of a write (needs root and mounts: ${reason ?? 'there'})`, () => {
  let disk: SmallDisk;
  beforeEach(() => {
    disk = mountSmallDisk('tmpfs', DISK_MB);
  });
  afterEach(() => disk.unmount());

  function fillUpTo(bytes: number): void {
    const spare = join(disk.folder, 'spare');
    writeFileSync(spare, Buffer.alloc(bytes, 1));
    disk.fill();
    rmSync(spare);
    expect(disk.free()).toBe(bytes);
  }

  function makeLog(lines: readonly string[]) {
    const table = { uuid: 'u', path: disk.folder, logs: join(disk.folder, 'deduplication_logs') };
    mkdirSync(table.logs);
    writeFileSync(logFile(table, 1), lines.map((line) => `${line}\n`).join(''));
    return table;
  }
  const added = (count: number) => Array.from({ length: count }, (_, n) => `1\tall_${n}_${n}_0\ttoken-of-insert-${n}`);

  test('the repair of a deduplication log fails, and the log keeps all its tokens', () => {
    const table = makeLog(['damaged', ...added(2_000)]);
    const before = readFileSync(logFile(table, 1), 'utf8');
    fillUpTo(LEFT_BYTES);
    const temporary = join(disk.folder, 'repaired-log.new');
    expect(() => removeDamagedLines(table, BEGINNING, temporary)).toThrow('ENOSPC');
    expect(readFileSync(logFile(table, 1), 'utf8')).toBe(before);
    disk.release();
    expect(removeDamagedLines(table, BEGINNING, temporary)).toBe(true);
    expect(readFileSync(logFile(table, 1), 'utf8')).toBe(before.replace('damaged\n', ''));
  });

  test('tokens that cannot all be dropped are an error, and the next repair drops them', () => {
    const table = makeLog(added(2_000));
    const { entries } = readTokens(table, BEGINNING);
    fillUpTo(LEFT_BYTES);
    expect(() => dropTokens(table, entries)).toThrow('ENOSPC');
    disk.release();
    removeDamagedLines(table, BEGINNING, join(disk.folder, 'repaired-log.new'));
    dropTokens(table, entries);
    const dropped = readTokens(table, BEGINNING).entries.filter(({ isAdded }) => !isAdded);
    expect(new Set(dropped.map(({ token }) => token))).toEqual(new Set(entries.map(({ token }) => token)));
  });

  test('the lock file of LMDB is not left with a hole, which would kill the process later', async () => {
    writeFileSync(join(disk.folder, 'data.mdb'), 'a log that exists');
    writeFileSync(join(disk.folder, 'allocated'), '');
    fillUpTo(LEFT_BYTES);
    await expect(allocateFiles(disk.folder)).rejects.toThrow('ENOSPC');
    disk.release();
    await allocateFiles(disk.folder);
    const { size, blocks } = statSync(join(disk.folder, 'lock.mdb'));
    expect(size).toBe(16 * 1024);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
  });
});
