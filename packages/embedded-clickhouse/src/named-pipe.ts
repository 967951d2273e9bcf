import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A named pipe (FIFO). The engine opens `path` for writing as if it were a file. `source` reads what the engine has written. The
 * engine waits while the pipe (64 KiB) is full, so a slow reader costs no memory.
 */
export interface NamedPipe {
  readonly path: string;
  readonly source: Socket;
  /** Removes what has the name `path`, if anything has it. Ends of the pipe that are open stay open. */
  remove(): void;
}

const run = promisify(execFile);

/** Creates the folder for pipes. First removes pipes that a killed process left behind. */
export function createPipeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
}

export async function openNamedPipe(folder: string): Promise<NamedPipe> {
  const path = join(folder, randomUUID());
  // Runs the program mkfifo, because Node has no function that creates a named pipe.
  await run('mkfifo', ['-m', '600', path]);
  // Without O_NONBLOCK, opening waits until the engine opens the other end.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return {
    path,
    source: new Socket({ fd, readable: true, writable: false }),
    remove: () => rmSync(path, { force: true }),
  };
}
