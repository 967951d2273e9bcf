import { fstatSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { EXIT } from './exit-codes.ts';
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
    // `timeout` and service managers send SIGTERM. A second signal of either kind ends the process.
    const signals = ['SIGINT', 'SIGTERM'];
    const abort = (): void => {
      for (const signal of signals) process.off(signal, abort);
      controller.abort();
    };
    for (const signal of signals) process.on(signal, abort);
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
  const output = fstatSync(STDOUT_FD);
  const isDevice = output.isCharacterDevice() && !isatty(STDOUT_FD);
  // If a write to a file or device fails, `runCli` reports the error. Without this listener, the error would end the process.
  if (output.isFile() || isDevice) return createFileOutput(STDOUT_FD).on('error', () => undefined);
  return process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The program that reads the output may close the pipe early (`weir sql … | head`). This is not an error.
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    process.stderr.write(`weir: can't write to standard output: ${error.message}\n`);
    process.exit(EXIT.failed);
  });
}
