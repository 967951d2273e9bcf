import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@weir/domain/errors';
import { lockFile } from '@weir/runtime/native/file-lock';
import { trimMemory } from '@weir/runtime/native/trim-memory';
import { type ChildMessage, type ChildOptions, type ParentMessage, USERNAME } from './child-messages.ts';
import { type Engine, openEngine } from './engine.ts';
import { createHttpInterface } from './http-interface.ts';
import { returnFreedMemory } from './memory/return-freed-memory.ts';
import { createPipeFolder } from './named-pipe.ts';
import { createSlots } from './slots.ts';
import { type SpaceWatch, watchSpace } from './space-watch.ts';
import { keepTokens, type TokenKeeper } from './tokens/keep-tokens.ts';
import { DETACHED_KEPT_MS, DETACHED_PERIOD_MS, removeDetachedParts } from './tokens/remove-detached-parts.ts';
import { repairTables } from './tokens/repair-tables.ts';

/** The increase of the nice value. When all cores are busy, a thread of the parent gets about three times the CPU time of a thread of the child. */
const NICE_STEP = 5;
/** Limit of concurrent statements. It must be lower than UV_THREADPOOL_SIZE, because each statement uses a thread of that pool. */
const ACTIVE_MAX = 12;
const WAITING_MAX = 256;
const LOCK_WAIT_MS = 15_000;
const PORT_WAIT_MS = 5_000;
const RELOAD_PERIOD_MS = 30_000;
/** Weir warns after this many failed reloads of the dictionaries in a row. A single reload can fail while large statements need all memory. */
const FAILURES_BEFORE_WARNING = 3;
const ACCEPT_PERIOD_MS = 30_000;
/** `endSoon` ends the process after this time, so that a running insert can still be answered. */
const ANSWER_WITHIN_MS = 100;

const DETACHED =
  'the tables had parts of inserts that were never acknowledged: moved them to the folder `detached` (docs/operations.md)';
const NOT_RELOADED =
  'ClickHouse cannot reload the links of visitors to profiles: `profile_id` of new links is computed more slowly, and after a restart it can fail';
const KEPT =
  'the tables have parts of inserts that were never acknowledged, merged with other rows: their rows may be stored twice, see `weir audit`';

/** The child process: chDB behind ClickHouse's HTTP interface on 127.0.0.1. Only `startEmbeddedClickhouse` starts it. */
async function main(options: ChildOptions): Promise<void> {
  yieldToParent();
  // Ignores these signals, because the parent sends the message `close` instead. Ctrl-C, or the end of the terminal, signals the whole process
  // group, but the parent must first finish its work with this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  // This event means that the parent has ended, perhaps by kill -9. Acknowledged inserts are durable, so this process ends at once, which
  // releases the folder.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

  // Writing to stderr fails on a full disk. Without a listener, this error would end the process.
  process.stderr.on('error', () => undefined);

  let isReady = false;
  const slots = createSlots(ACTIVE_MAX, WAITING_MAX);
  const pipeFolder = `${options.folder}.pipes`;
  const engine = openLocked(options).then((opened) => {
    // Creates the folder of the pipes only after the engine's folder was locked: before that, another process could still use the pipes.
    createPipeFolder(pipeFolder);
    return opened;
  });
  const tokens = engine.then(() => keepTokens(options.folder, endSoon));
  const space = engine.then((opened) => watchSpaceOf(opened, options));
  const server = createHttpInterface({
    engine,
    space,
    tokens,
    isReady: () => isReady,
    slots,
    pipeFolder,
    memoryBytes: options.memoryBytes,
    username: USERNAME,
    password: readFileSync(options.passwordFile, 'utf8').trim(),
  });
  send({ type: 'listening', port: await listen(server, options.port) });
  const opened = await engine;
  const watch = await space;
  const keeper = await tokens;
  isReady = true;
  send({ type: 'ready' });

  const reloading = reloadDictionaries(opened);
  const accepting = acceptParts(keeper);
  const removing = removeOldDetachedParts(options.folder);
  const returning = returnFreedMemory({
    memoryBytes: options.memoryBytes,
    async purge() {
      await opened.run({ setup: [], statement: 'SYSTEM JEMALLOC PURGE', data: undefined, format: 'Null' });
      await trimMemory();
    },
  });
  process.on('message', (message: ParentMessage) => {
    if (message.type !== 'close') return;
    isReady = false;
    clearInterval(reloading);
    clearInterval(accepting);
    clearInterval(removing);
    clearInterval(returning);
    watch.close();
    server.close();
    server.closeIdleConnections();
    slots
      .idle()
      .then(() => opened.close())
      .then(() => keeper.close())
      .then(() => process.exit(0), fail);
  });
}

/**
 * Lowers the priority of this process, so that the gateway in the parent process gets more CPU time than the engine if there is not enough for both.
 * It must be called before the engine is opened: a new thread has the priority of the thread that creates it.
 */
function yieldToParent(): void {
  const nice = Math.min(getPriority() + NICE_STEP, constants.priority.PRIORITY_LOW);
  try {
    // On Linux, each thread has a priority of its own, and a process has several threads when its program begins.
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
    for (const thread of threads) setPriority(thread, nice);
  } catch (error) {
    // Some sandboxes forbid a change of the priority. Weir also works without it.
    process.stderr.write(`cannot lower the priority of ClickHouse: ${String(error)}\n`);
  }
}

/** Locks the folder, repairs the tables, and opens the engine. */
async function openLocked({ folder, memoryBytes }: ChildOptions): Promise<Engine> {
  mkdirSync(folder, { recursive: true });
  // The repair needs the lock before the engine is opened, so the engine's own lock would be too late.
  const lock = await lockFile(join(folder, 'lock'), LOCK_WAIT_MS);
  if (lock === undefined) throw new Error(`another process uses ${folder}`);
  const repair = repairTables(folder);
  for (const { table, detached, kept } of repair.repairs.parts) {
    if (detached.length > 0) send({ type: 'warning', message: DETACHED, fields: { table, parts: detached } });
    if (kept.length > 0) send({ type: 'warning', message: KEPT, fields: { table, parts: kept } });
  }
  const { tablesWithDroppedTokens, tablesWithDamagedLogs } = repair.repairs;
  if (tablesWithDroppedTokens > 0) {
    process.stderr.write(`inserts were killed: dropped their tokens from ${tablesWithDroppedTokens} tables\n`);
  }
  if (tablesWithDamagedLogs > 0) {
    process.stderr.write(`removed damaged lines from the deduplication logs of ${tablesWithDamagedLogs} tables\n`);
  }
  return openEngine({ folder, memoryBytes, lockWaitMs: LOCK_WAIT_MS, repair });
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
    onDoubt: endSoon,
  });
}

/** Ends the process after ANSWER_WITHIN_MS. The parent then starts another process, which repairs the tables. */
function endSoon(message: string): void {
  send({ type: 'failed', message });
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ANSWER_WITHIN_MS);
}

/**
 * Regularly records the parts that are on the disk (accepted-blocks.ts). A later repair does not check these parts and leaves them in their
 * tables. The record also contains parts that no statement waits for, such as those of asynchronous inserts.
 */
function acceptParts(keeper: TokenKeeper): NodeJS.Timeout {
  return setInterval(() => {
    keeper.accept().catch((error: unknown) => process.stderr.write(`cannot accept the parts: ${String(error)}\n`));
  }, ACCEPT_PERIOD_MS);
}

/** Removes old parts from the folders `detached` every hour. The repair at a start, or the engine, has moved them there. */
function removeOldDetachedParts(folder: string): NodeJS.Timeout {
  const remove = (): void => {
    try {
      removeDetachedParts(folder, DETACHED_KEPT_MS, Date.now());
    } catch (error) {
      // The removal can fail, for example if a table was dropped meanwhile. The next attempt is in an hour.
      process.stderr.write(`cannot remove the parts that a repair has moved away: ${String(error)}\n`);
    }
  };
  remove();
  return setInterval(remove, DETACHED_PERIOD_MS);
}

/** Reloads the dictionaries every 30 s. A ClickHouse server does this after their LIFETIME; the embedded engine does not. */
function reloadDictionaries(engine: Engine): NodeJS.Timeout {
  let underWay = false;
  let failures = 0;
  return setInterval(() => {
    if (underWay) return;
    underWay = true;
    engine
      .run({ setup: [], statement: 'SYSTEM RELOAD DICTIONARIES', data: undefined, format: 'Null' })
      .then(
        () => {
          failures = 0;
        },
        (error: unknown) => {
          failures += 1;
          process.stderr.write(`cannot reload the dictionaries: ${String(error)}\n`);
          if (failures === FAILURES_BEFORE_WARNING)
            send({ type: 'warning', message: NOT_RELOADED, fields: { reason: String(error) } });
        },
      )
      .finally(() => {
        underWay = false;
      });
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
      // Perhaps the previous child, which used this port, has not ended yet. So listening is tried again.
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > deadline) throw error;
      await pause(50);
    }
  }
}

function send(message: ChildMessage): void {
  process.send?.(message);
}

function fail(error: unknown): void {
  const message = messageOf(error);
  process.stderr.write(`${error instanceof Error ? error.stack : message}\n`);
  send({ type: 'failed', message });
  process.disconnect?.();
  process.exitCode = 1;
}

main(JSON.parse(process.argv[2] ?? '{}') as ChildOptions).catch(fail);
