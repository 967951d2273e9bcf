import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { open } from 'lmdb';
import { openFileSpace } from '../../src/lmdb/lmdb-file-space.ts';
import { createWriteQueue } from '../../src/lmdb/lmdb-write-queue.ts';
import { type ExpiringRows, encodeRow, startSweep } from '../../src/lmdb/state/lmdb-expiring-rows.ts';

test('the sweep removes all expired rows and no other rows', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-rows-'));
  const env = open({ path: folder, noSync: true, eventTurnBatching: false });
  const rows: ExpiringRows = env.openDB({ name: 'rows', encoding: 'string' });
  await env.batch(() => {
    for (let i = 0; i < 5_000; i++) void rows.put(`key-${i}`, encodeRow(i % 5 === 0 ? 2_000 : 1_000, 'x'));
  });
  const fileSpace = await openFileSpace(join(folder, 'data.mdb'), env, undefined);
  const writes = createWriteQueue(env, fileSpace, () => 1_500);
  const sweep = startSweep([{ rows }], writes, () => 1_500);
  await eventually('4,000 rows are removed', () => rows.getKeysCount() === 1_000);
  sweep.stop();
  await writes.idle();
  expect(rows.get('key-5')).toBe(encodeRow(2_000, 'x'));
  await fileSpace.close();
  await env.close();
  await rm(folder, { recursive: true });
});
