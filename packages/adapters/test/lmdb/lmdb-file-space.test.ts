import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '@weir/testkit/load';
import { open } from 'lmdb';
import { allocateFiles } from '../../src/lmdb/lmdb-allocate-files.ts';
import { openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';
import { openFileSpace } from '../../src/lmdb/lmdb-file-space.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-room-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('no transaction grows the file by more than its upper bound', async () => {
  await allocateFiles(folder);
  const env = open({ path: folder, noSync: true, eventTurnBatching: false });
  const rows = env.openDB<Buffer, string>({ name: 'rows', encoding: 'binary' });
  const fileSpace = await openFileSpace(join(folder, 'data.mdb'), env, undefined);
  const random = seededRandom(19);
  const over: string[] = [];
  for (let transaction = 0; transaction < 150; transaction++) {
    const keys = 1 + Math.floor(random() ** 3 * 2_000);
    const valueBytes = Math.floor(random() ** 4 * 100_000);
    const keysInUse = random() < 0.5 ? 3_000 : 1e9;
    const removed = random() < 0.3;
    const bound = fileSpace.read().boundOf({ keys, bytes: removed ? 0 : keys * (valueBytes + 32) });
    expect(await fileSpace.grow(bound)).toBeUndefined();
    const before = fileSpace.read().free();
    await env.batch(() => {
      for (let i = 0; i < keys; i++) {
        const key = `key-${Math.floor(random() * keysInUse)}`;
        if (removed) void rows.remove(key);
        else void rows.put(key, Buffer.alloc(Math.min(valueBytes, Math.floor(2e6 / keys)), 1));
      }
    });
    const added = before - fileSpace.read().free();
    if (added > bound) over.push(`${keys} keys, ${valueBytes} bytes: ${added} > ${bound}`);
  }
  expect(over).toEqual([]);
  await fileSpace.close();
  await env.close();
});

test('with a disk shortage the log refuses appends, still commits offsets, and does not grow', async () => {
  let shortage: string | undefined;
  const disk = { shortage: () => shortage };
  const log = await openLmdbEventLog({ folder, partitions: 1, clock: Date.now, retentionMs: () => 3600_000, disk });
  const record = { value: Buffer.alloc(1_000, 1) };
  expect((await log.append('events.raw', [record]))[0]?.status).toBe('stored');
  const { size } = await stat(join(folder, 'data.mdb'));

  shortage = 'the disk is nearly full';
  expect(await log.append('events.raw', [record])).toEqual([{ status: 'refused', reason: shortage }]);
  const table = await log.openTable('registry');
  for (let i = 0; i < 50; i++) await table.put('site', `value ${i}`);
  expect((await stat(join(folder, 'data.mdb'))).size).toBe(size);
  await expect(table.put('site', 'x'.repeat(4_000_000))).rejects.toThrow('the disk is nearly full');

  shortage = undefined;
  await table.put('site', 'x'.repeat(4_000_000));
  expect((await log.append('events.raw', [record]))[0]).toMatchObject({ status: 'stored', offset: 1 });
  await log.close();
});

test('the files of an environment have no holes', async () => {
  const log = await openLmdbEventLog({ folder, partitions: 1, clock: Date.now, retentionMs: () => 3600_000 });
  await log.append('events.raw', [{ value: Buffer.alloc(1_000, 1) }]);
  for (const name of ['data.mdb', 'lock.mdb']) {
    const { size, blocks } = await stat(join(folder, name));
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
  }
  await log.close();
});

test('a log whose file ends before the last page is refused, and its file is not filled with zeros', async () => {
  const openLog = () => openLmdbEventLog({ folder, partitions: 1, clock: Date.now, retentionMs: () => 3600_000 });
  const log = await openLog();
  for (let n = 0; n < 20; n++) await log.append('events.raw', [{ value: randomBytes(10_000) }]);
  await log.close();
  await truncate(join(folder, 'data.mdb'), 16 * 4096);
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(openLog()).rejects.toMatchObject({ code: 'event_log_damaged' });
    expect((await stat(join(folder, 'data.mdb'))).size).toBe(16 * 4096);
  }
});
