import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { createLogger } from '@weir/runtime/logger';
import { keepArchive } from '../src/archive-upkeep.ts';

test('the upkeep removes what an upload has left that was interrupted more than a day ago', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-leftovers-'));
  try {
    mkdirSync(join(folder, 'parquet'));
    writeFileSync(join(folder, 'parquet/.part-1'), 'x');
    const deps = {
      store: openFileObjectStore(folder),
      logger: createLogger('silent'),
      limits: { retentionMs: undefined, upkeepMs: 1 },
    };
    await keepArchive({ ...deps, clock: () => Date.now() + 3_600_000 });
    expect(readdirSync(join(folder, 'parquet'))).toEqual(['.part-1']);
    await keepArchive({ ...deps, clock: () => Date.now() + 25 * 3_600_000 });
    expect(readdirSync(join(folder, 'parquet'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
