import { openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';

/** A program that appends records until a test kills it. `lmdb-append-forever.ts FOLDER TOPIC` prints `offset value` for each acknowledged record. */
async function main(folder: string, topic: string): Promise<void> {
  const log = await openLmdbEventLog({ folder, partitions: 1, clock: Date.now, retentionMs: () => 3600_000 });
  let next = 0;
  const appendOn = async (): Promise<never> => {
    for (;;) {
      const value = String(next++);
      const [outcome] = await log.append(topic, [{ partition: 0, value: Buffer.from(value) }]);
      if (outcome?.status !== 'stored') throw new Error(outcome?.reason);
      process.stdout.write(`${outcome.offset} ${value}\n`);
    }
  };
  await Promise.all(Array.from({ length: 50 }, appendOn));
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
