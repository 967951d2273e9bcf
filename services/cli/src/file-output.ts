import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { CliError } from './exit-codes.ts';

/**
 * Writes to a file that the shell has opened. On a full disk, the system can write a part of the bytes without an error. Node's own stream for files
 * ignores this, so the file would be cut silently. A failed write is a `CliError`.
 */
export function createFileOutput(fd: number): Writable {
  return new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      try {
        for (let written = 0; written < chunk.length; ) written += writeSync(fd, chunk, written);
        done();
      } catch (error) {
        done(new CliError(`can't write to standard output: ${(error as Error).message}`));
      }
    },
  });
}
