import { openLmdbStateStore } from '../../src/lmdb/state/lmdb-state-store.ts';

/** A program that writes state until a test kills it. `lmdb-write-state-forever.ts FOLDER` prints the applied offset after each write. */
async function main(folder: string): Promise<void> {
  const store = await openLmdbStateStore({ folder, clock: Date.now });
  const { id: epoch } = await store.readEpoch('l', 1);
  for (let offset = 1; ; offset++) {
    await store.writeState(epoch, { logId: 'l', partition: 0 }, { from: offset - 1, to: offset }, [
      { key: 'last', value: String(offset), ttlMs: 3600_000 },
      { key: `key-${offset % 1_000}`, value: 'x'.repeat(200), ttlMs: 3600_000 },
    ]);
    process.stdout.write(`${offset}\n`);
  }
}

void main(process.argv[2] ?? '');
