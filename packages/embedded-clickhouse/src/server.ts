import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type ChildMessage, type ChildOptions, type ParentMessage, USERNAME } from './child-messages.ts';
import { type Engine, openEngine } from './engine.ts';
import { createHttpInterface } from './http-interface.ts';
import { createSlots } from './slots.ts';

/** At most this many statements run at once: below UV_THREADPOOL_SIZE, each takes one of its threads. */
const ACTIVE_MAX = 12;
const WAITING_MAX = 256;
const LOCK_WAIT_MS = 15_000;
const PORT_WAIT_MS = 5_000;
const RELOAD_PERIOD_MS = 30_000;

/** The child process: chDB behind ClickHouse's HTTP interface on 127.0.0.1. Started by `startEmbeddedClickhouse` only. */
async function main(options: ChildOptions): Promise<void> {
  // The parent tells it to close; a Ctrl-C goes to the whole process group, and the parent still has to drain.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  // The parent is gone, maybe by kill -9. What was acknowledged is durable, and the folder must be free at once.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

  let isReady = false;
  const slots = createSlots(ACTIVE_MAX, WAITING_MAX);
  const engine = openEngine(options.folder, LOCK_WAIT_MS);
  const server = createHttpInterface({
    engine,
    isReady: () => isReady,
    slots,
    username: USERNAME,
    password: readFileSync(options.passwordFile, 'utf8').trim(),
  });
  send({ type: 'listening', port: await listen(server, options.port) });
  const opened = await engine;
  isReady = true;
  send({ type: 'ready' });

  const reloading = reloadDictionaries(opened);
  process.on('message', (message: ParentMessage) => {
    if (message.type !== 'close') return;
    isReady = false;
    clearInterval(reloading);
    server.close();
    server.closeIdleConnections();
    slots
      .idle()
      .then(() => opened.close())
      .then(() => process.exit(0), fail);
  });
}

/** A server reads its dictionaries again by their LIFETIME; the embedded engine never does. */
function reloadDictionaries(engine: Engine): NodeJS.Timeout {
  return setInterval(() => {
    engine
      .run({ setup: [], statement: 'SYSTEM RELOAD DICTIONARIES', data: undefined, format: 'Null' })
      .catch((error: unknown) => process.stderr.write(`dictionaries are not reloaded: ${String(error)}\n`));
  }, RELOAD_PERIOD_MS);
}

async function listen(server: Server, port: number): Promise<number> {
  const deadline = performance.now() + PORT_WAIT_MS;
  for (;;) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, host: '127.0.0.1', backlog: 511 }, () => {
          server.off('error', reject);
          resolve();
        });
      });
      return (server.address() as AddressInfo).port;
    } catch (error) {
      // The one before it on this port may still be dying.
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > deadline) throw error;
      await pause(50);
    }
  }
}

function send(message: ChildMessage): void {
  process.send?.(message);
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${error instanceof Error ? error.stack : message}\n`);
  send({ type: 'failed', message });
  process.disconnect?.();
  process.exitCode = 1;
}

main(JSON.parse(process.argv[2] ?? '{}') as ChildOptions).catch(fail);
