import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { openLmdbStateStore } from '../../src/lmdb/state/lmdb-state-store.ts';

/**
 * A program: `lmdb-write-after-erasure.ts FOLDER erased` erases state, opens the store again, and then writes thousands of pages in one transaction.
 * With `compacted` instead of `erased`, it does not erase state, but compacts the file as earlier versions did.
 */
async function main(folder: string, before: string): Promise<void> {
  const partition = { logId: 'l', partition: 0 };
  const rows = (value: string) =>
    Array.from({ length: 5_000 }, (_, nth) => ({ key: `key-${nth}`, value: value.repeat(1_000), ttlMs: 3600_000 }));
  const store = await openLmdbStateStore({ folder, clock: Date.now });
  const { id } = await store.readEpoch('l', 1);
  await store.writeState(id, partition, { from: 0, to: 1 }, rows('a'));
  if (before === 'erased') await store.removeState(id, partition, ['key-0']);
  await store.close();
  if (before === 'compacted') await compact(folder);

  const next = await openLmdbStateStore({ folder, clock: Date.now });
  const { id: epoch } = await next.readEpoch('l', 1);
  const applied = await next.writeState(epoch, partition, { from: 1, to: 2 }, rows('b'));
  await next.close();
  console.log(applied);
}

async function compact(folder: string): Promise<void> {
  const copy = join(folder, 'compacted');
  mkdirSync(copy);
  const env = open({ path: folder, maxDbs: 8 });
  await env.backup(copy, true);
  await env.close();
  renameSync(join(copy, 'data.mdb'), join(folder, 'data.mdb'));
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
