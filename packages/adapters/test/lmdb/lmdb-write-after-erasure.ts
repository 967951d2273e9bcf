import { openLmdbStateStore } from '../../src/lmdb/state/lmdb-state-store.ts';

/** A program: `lmdb-write-after-erasure.ts FOLDER` erases state, opens the store again, and then writes thousands of pages in one transaction. */
async function main(folder: string): Promise<void> {
  const partition = { logId: 'l', partition: 0 };
  const rows = (value: string) =>
    Array.from({ length: 5_000 }, (_, nth) => ({ key: `key-${nth}`, value: value.repeat(1_000), ttlMs: 3600_000 }));
  const store = await openLmdbStateStore({ folder, clock: Date.now });
  const { id } = await store.readEpoch('l', 1);
  await store.writeState(id, partition, { from: 0, to: 1 }, rows('a'));
  await store.removeState(id, partition, ['key-0']);
  await store.close();

  const next = await openLmdbStateStore({ folder, clock: Date.now });
  const { id: epoch } = await next.readEpoch('l', 1);
  const applied = await next.writeState(epoch, partition, { from: 1, to: 2 }, rows('b'));
  await next.close();
  console.log(applied);
}

void main(process.argv[2] ?? '');
