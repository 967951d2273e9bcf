import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { lockDataFolder } from '../src/data-folder.ts';

/** A process that tests kill. `append-as-owner.ts FOLDER NAME` locks the folder and prints `offset value` of acknowledged records. */
async function main(folder: string, name: string): Promise<void> {
  await lockDataFolder(folder);
  const retentionMs = () => 3600_000;
  const log = await openLmdbEventLog({ folder: join(folder, 'log'), partitions: 1, clock: Date.now, retentionMs });
  let next = 0;
  const appendOn = async (): Promise<never> => {
    for (;;) {
      const value = `${name}-${next++}.`;
      const [outcome] = await log.append('t', [{ partition: 0, value: Buffer.from(value) }]);
      if (outcome?.status === 'stored') process.stdout.write(`${outcome.offset} ${value}\n`);
    }
  };
  await Promise.all(Array.from({ length: 10 }, appendOn));
}

main(process.argv[2] ?? '', process.argv[3] ?? '').catch((error: { code?: string; message: string }) => {
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exit(1);
});
