import { fstatSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { createFileOutput } from './file-output.ts';
import { runCli } from './run-cli.ts';

const STDOUT_FD = 1;

runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: openStdout(),
  stderr: process.stderr,
  clock: Date.now,
  interruption() {
    const controller = new AbortController();
    process.once('SIGINT', () => controller.abort());
    return controller.signal;
  },
}).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);

function openStdout(): Writable {
  // If a write to a file fails, `runCli` reports the error. Without this listener, the error would end the process.
  if (fstatSync(STDOUT_FD).isFile()) return createFileOutput(STDOUT_FD).on('error', () => undefined);
  // The program that reads the output may close the pipe early (`weir sql … | head`). This is not an error.
  return process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}
