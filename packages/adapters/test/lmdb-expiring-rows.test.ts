import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { open } from 'lmdb';
import { type ExpiringRows, encodeRow, startSweep } from '../src/lmdb-expiring-rows.ts';
import { createGroupCommit } from '../src/lmdb-group-commit.ts';

test('the sweep removes every expired row, however many there are, and no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-rows-'));
  const env = open({ path: folder, noSync: true, eventTurnBatching: false });
  const rows: ExpiringRows = env.openDB({ name: 'rows', encoding: 'string' });
  await env.batch(() => {
    for (let i = 0; i < 5_000; i++) void rows.put(`key-${i}`, encodeRow(i % 5 === 0 ? 2_000 : 1_000, 'x'));
  });
  const commit = createGroupCommit(env, () => 1_500);
  const sweep = startSweep([rows], commit, () => 1_500);
  await eventually('4,000 rows are gone', () => rows.getKeysCount() === 1_000);
  sweep.stop();
  await commit.idle();
  expect(rows.get('key-5')).toBe(encodeRow(2_000, 'x'));
  await env.close();
  await rm(folder, { recursive: true });
});
