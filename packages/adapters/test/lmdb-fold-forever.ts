import { openLmdbStateStore } from '../src/lmdb-state-store.ts';

/** A process to be killed: `lmdb-fold-forever.ts FOLDER` prints the offset of each fold that was written. */
async function main(folder: string): Promise<void> {
  const store = await openLmdbStateStore({ folder, clock: Date.now });
  for (let offset = 1; ; offset++) {
    await store.writeFold({ logId: 'l', partition: 0 }, { from: offset - 1, to: offset }, [
      { key: 'last', value: String(offset), ttlMs: 3600_000 },
      { key: `key-${offset % 1_000}`, value: 'x'.repeat(200), ttlMs: 3600_000 },
    ]);
    process.stdout.write(`${offset}\n`);
  }
}

void main(process.argv[2] ?? '');
