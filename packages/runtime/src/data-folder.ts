import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';

const WAIT_FOR_OTHER_MS = 5_000;
const RETRY_EVERY_MS = 50;

export interface DataFolder {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Makes the data folder (mode 700) and takes it for this process group. The lock is a listening socket: the kernel lets it
 * go with the process, so a kill -9 leaves nothing stale behind, and a second start can see at once whether the first lives.
 * Waits up to 5 s for another group to let go, then rejects with `data_folder_in_use`.
 */
export async function takeDataFolder(path: string): Promise<DataFolder> {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const address = lockAddress(realpathSync(path));
  const deadline = Date.now() + WAIT_FOR_OTHER_MS;
  for (;;) {
    const server = await listen(address);
    if (server !== undefined) {
      return { path, close: () => new Promise((resolve) => server.close(() => resolve())) };
    }
    await removeIfAbandoned(address);
    if (Date.now() > deadline) {
      throw new DependencyError(
        'data_folder_in_use',
        `${path} is in use by another Weir; stop that one or set WEIR_DATA_DIR`,
      );
    }
    await pause(RETRY_EVERY_MS);
  }
}

/** Linux: the abstract namespace (no file at all). Windows: a named pipe. Elsewhere a socket file, short enough for its 104-byte limit. */
function lockAddress(realPath: string): string {
  const id = createHash('sha256').update(realPath).digest('hex').slice(0, 24);
  if (process.platform === 'linux') return `\0weir-${id}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\weir-${id}`;
  return join('/tmp', `weir-${id}.lock`);
}

/** A socket file outlives a killed process (an abstract socket or a pipe does not): nobody answers on it, so it may go. */
function removeIfAbandoned(address: string): Promise<void> {
  if (!address.startsWith('/tmp/')) return Promise.resolve();
  return new Promise((resolve) => {
    const probe = connect(address);
    probe.once('connect', () => resolve(void probe.destroy()));
    probe.once('error', () => resolve(rmSync(address, { force: true })));
  });
}

function listen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(address, () => resolve(server));
  });
}
