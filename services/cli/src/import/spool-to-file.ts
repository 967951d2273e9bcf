import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A pipe as a file of its own, because it is read twice: for its digest, and for its lines. */
export interface SpooledFile {
  readonly path: string;
  remove(): Promise<void>;
}

export async function spoolToFile(input: Readable): Promise<SpooledFile> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'log');
  try {
    // Access logs hold addresses: for nobody else to read.
    await pipeline(input, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}
