import { fstatSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { interruptionOf } from './cli-io.ts';
import { EXIT } from './exit-codes.ts';
import { createFileOutput } from './file-output.ts';
import { runCli } from './run-cli.ts';

const STDOUT_FD = 1;

// On Node 20, the AWS SDK would print a notice about its future versions. It does not concern users, because Weir has a fixed version of the SDK.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

// Writing to a closed terminal or pipe fails. Without this listener, the error would end the process before a command has removed its
// temporary files.
process.stderr.on('error', () => undefined);

runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: openStdout(),
  stderr: process.stderr,
  clock: Date.now,
  interruption: () => interruptionOf(process),
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
