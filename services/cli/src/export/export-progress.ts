import { Transform } from 'node:stream';
import progress from 'cli-progress';
import type { CliIo } from '../cli-io.ts';

/** Counts the bytes that pass, and shows them on standard error if that is a terminal. */
export interface ExportProgress {
  readonly counter: Transform;
  readonly bytes: () => number;
  stop(): void;
}

export function createExportProgress(io: CliIo): ExportProgress {
  const begun = io.clock();
  let bytes = 0;
  // The size of an export is not known before its end, so there is no bar.
  const shown = new progress.SingleBar({
    stream: io.stderr as NodeJS.WriteStream,
    // With `false`, the terminal does not wrap lines until `stop` is called, and Ctrl-C can end the process before that.
    linewrap: true,
    format: () => `${megabytes(bytes)} MB  ${megabytes((bytes * 1000) / Math.max(1, io.clock() - begun))} MB/s`,
  });
  const isShown = io.stderr.isTTY === true;
  if (isShown) shown.start(0, 0);
  return {
    counter: new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done(null, chunk);
      },
    }),
    bytes: () => bytes,
    stop() {
      if (isShown) shown.stop();
    },
  };
}

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
