import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type ChildMessage, type ChildOptions, type ParentMessage, USERNAME } from './child-messages.ts';
import { type Engine, openEngine } from './engine.ts';
import { createHttpInterface } from './http-interface.ts';
import { createPipeFolder } from './named-pipe.ts';
import { createSlots } from './slots.ts';
import { type SpaceWatch, watchSpace } from './space-watch.ts';

/** Limit of concurrent statements. It must be lower than UV_THREADPOOL_SIZE, because each statement uses a thread of that pool. */
const ACTIVE_MAX = 12;
const WAITING_MAX = 256;
const LOCK_WAIT_MS = 15_000;
const PORT_WAIT_MS = 5_000;
const RELOAD_PERIOD_MS = 30_000;
/** If parts may be damaged, the process ends after this time, so that the insert can still be answered. */
const ANSWER_WITHIN_MS = 100;

/** The child process: chDB behind ClickHouse's HTTP interface on 127.0.0.1. Only `startEmbeddedClickhouse` starts it. */
async function main(options: ChildOptions): Promise<void> {
  // Ignores these signals, because the parent sends the message `close` instead. Ctrl-C signals the whole process group, but the parent
  // must first finish its work with this process.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  // This event means that the parent has ended, perhaps by kill -9. Acknowledged inserts are durable, so this process ends at once, which
  // releases the folder.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

  // Writing to stderr fails on a full disk. Without a listener, this error would end the process.
  process.stderr.on('error', () => undefined);

  let isReady = false;
  const slots = createSlots(ACTIVE_MAX, WAITING_MAX);
  const pipeFolder = `${options.folder}.pipes`;
  const engine = openEngine(options.folder, LOCK_WAIT_MS).then((opened) => {
    // The folder of the pipes is created after the engine has locked its folder: before that, another process could be using the pipes.
    createPipeFolder(pipeFolder);
    return opened;
  });
  const space = engine.then((opened) => watchSpaceOf(opened, options));
  const server = createHttpInterface({
    engine,
    space,
    isReady: () => isReady,
    slots,
    pipeFolder,
    username: USERNAME,
    password: readFileSync(options.passwordFile, 'utf8').trim(),
  });
  send({ type: 'listening', port: await listen(server, options.port) });
  const opened = await engine;
  const watch = await space;
  isReady = true;
  send({ type: 'ready' });

  const reloading = reloadDictionaries(opened);
  process.on('message', (message: ParentMessage) => {
    if (message.type !== 'close') return;
    isReady = false;
    clearInterval(reloading);
    watch.close();
    server.close();
    server.closeIdleConnections();
    slots
      .idle()
      .then(() => opened.close())
      .then(() => process.exit(0), fail);
  });
}

/** Watches the free space. If parts may be damaged, ends the process: the parent restarts it, and the engine checks every part. */
function watchSpaceOf(engine: Engine, { folder, reserveBytes }: ChildOptions): Promise<SpaceWatch> {
  return watchSpace({
    folder,
    reserveBytes,
    async setMerges(run) {
      const statement = `SYSTEM ${run ? 'START' : 'STOP'} MERGES`;
      await engine.run({ setup: [], statement, data: undefined, format: 'Null' });
    },
    onDoubt(message) {
      send({ type: 'failed', message });
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), ANSWER_WITHIN_MS);
    },
  });
}

/** Reloads the dictionaries every 30 s. A ClickHouse server does this after their LIFETIME; the embedded engine does not. */
function reloadDictionaries(engine: Engine): NodeJS.Timeout {
  return setInterval(() => {
    engine
      .run({ setup: [], statement: 'SYSTEM RELOAD DICTIONARIES', data: undefined, format: 'Null' })
      .catch((error: unknown) => process.stderr.write(`cannot reload the dictionaries: ${String(error)}\n`));
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
      // The previous child, which used this port, may not have ended yet.
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
