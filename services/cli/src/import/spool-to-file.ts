import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliError, EXIT } from '../exit-codes.ts';

/** A pipe as a file of its own, because it is read twice: for its digest, and for its lines. */
export interface SpooledFile {
  readonly path: string;
  remove(): Promise<void>;
}

export async function spoolToFile(input: Readable, interrupted: AbortSignal): Promise<SpooledFile> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'log');
  try {
    // Access logs hold addresses: for nobody else to read.
    await pipeline(input, createWriteStream(path, { mode: 0o600 }), { signal: interrupted });
    // Ctrl-C ends the writer of the pipe as well, and what it had not written yet is missing.
    interrupted.throwIfAborted();
  } catch (error) {
    await remove();
    throw interrupted.aborted ? new CliError('interrupted before anything was imported', EXIT.interrupted) : error;
  }
  return { path, remove };
}
