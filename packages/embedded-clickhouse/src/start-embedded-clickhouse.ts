import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { type ChildMessage, type ChildOptions, type ParentMessage, USERNAME } from './child-messages.ts';
import { memoryByDefault } from './memory/memory-by-default.ts';
import { detachedUntil } from './tokens/remove-detached-parts.ts';

export interface EmbeddedClickhouseOptions {
  readonly dataDir: string;
  /** The program of the child process: `dist/clickhouse-server.js`, or `clickhouse-server.ts` of this package, which runs with tsx. */
  readonly entry: string;
  /** The port of ClickHouse on this machine. Default: any free port. */
  readonly port?: number;
  /** Inserts are refused (error 243) while less disk space is free. Default: 32 MiB. */
  readonly reserveBytes?: number;
  /**
   * The memory that all statements and caches may use together. Above it, statements fail with error 241. Default: the memory of the machine
   * or container minus 672 MiB, but at least 352 MiB.
   */
  readonly memoryBytes?: number;
  readonly logger: EmbeddedClickhouseLogger;
  /** Called before each start of the child. A start needs some free disk space. */
  readonly beforeStart?: () => void;
}

/** The methods of a pino logger that this package calls. */
export interface EmbeddedClickhouseLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EmbeddedClickhouse {
  /** The address of the HTTP interface. It stays the same when the child is restarted. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The child's current process ID; undefined while it is not running. */
  readonly pid: () => number | undefined;
  /**
   * A repair after a loss of power can move parts away. They are removed later, and until then can have rows of persons who were erased
   * since the repair. Returns when the last of these parts will be removed, in Unix milliseconds; undefined if there are none.
   */
  detachedUntil(): number | undefined;
  /**
   * Resolves when the engine is open. Rejects with `analytics_unavailable` after STARTS_FAILED_MAX consecutive failed starts, or when `close`
   * is called.
   */
  ready(): Promise<void>;
  /**
   * Resolves when the child has ended. A child whose engine is open first finishes its running statements, and is killed if this takes
   * longer than CLOSE_WAIT_MS.
   */
  close(): Promise<void>;
}

const STARTS_FAILED_MAX = 5;
const RESTART_PAUSE_MAX_MS = 2_000;
const CLOSE_WAIT_MS = 15_000;
const THREADS = 16;
const ARENAS = 2;
const RESERVE_BYTES = 32 * 1024 * 1024;

/** Starts the child process. Resolves when its port is known; `ready()` waits for the engine. */
export async function startEmbeddedClickhouse(options: EmbeddedClickhouseOptions): Promise<EmbeddedClickhouse> {
  const dataDir = resolve(options.dataDir);
  const folder = join(dataDir, 'clickhouse');
  mkdirSync(folder, { recursive: true });
  const passwordFile = join(dataDir, 'clickhouse.password');
  const password = keptPassword(passwordFile);

  const reserveBytes = options.reserveBytes ?? RESERVE_BYTES;
  const memoryBytes = options.memoryBytes ?? memoryByDefault();
  let port = options.port ?? 0;
  let child: ChildProcess | undefined;
  let isReady = false;
  let isClosing = false;
  let startsFailed = 0;
  let lastFailure = '';
  let restartTimer: NodeJS.Timeout | undefined;
  let waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];

  const settle = (error?: Error): void => {
    const settled = waiting;
    waiting = [];
    for (const waiter of settled) error === undefined ? waiter.resolve() : waiter.reject(error);
  };
  const failure = (): Error => unavailable(`the embedded ClickHouse does not start: ${lastFailure}`);

  const start = (onListening: () => void): void => {
    let reason = '';
    const onEnd = (code: number | null, signal: NodeJS.Signals | null): void => {
      const wasReady = isReady;
      child = undefined;
      isReady = false;
      if (isClosing) return;
      if (!wasReady) startsFailed += 1;
      lastFailure = reason || `it ended with ${signal ?? `code ${code}`}`;
      options.logger.warn({ code, signal, startsFailed, reason }, 'embedded ClickHouse ended: restarting it');
      if (startsFailed >= STARTS_FAILED_MAX) settle(failure());
      // If no port is known after STARTS_FAILED_MAX failures, the child is not started again: the caller has not received an object with which
      // the caller could end the child.
      if (startsFailed >= STARTS_FAILED_MAX && port === 0) return;
      const pauseMs = wasReady ? 0 : Math.min(RESTART_PAUSE_MAX_MS, 50 * 2 ** startsFailed);
      restartTimer = setTimeout(() => start(onListening), pauseMs);
    };
    let started: ChildProcess;
    try {
      options.beforeStart?.();
      const childOptions = { folder, passwordFile, port, reserveBytes, memoryBytes };
      started = spawnChild(options.entry, childOptions, join(dataDir, 'clickhouse.stderr'));
    } catch (error) {
      // The start failed, for example because the disk is full or too many files are open. This counts like a child that has ended. An exception
      // must not leave this function: a restart runs in a timer, where an exception would end Weir.
      reason = (error as Error).message;
      onEnd(null, null);
      return;
    }
    child = started;
    started.on('message', (message: ChildMessage) => {
      if (message.type === 'listening') {
        port = message.port;
        onListening();
      } else if (message.type === 'ready') {
        isReady = true;
        startsFailed = 0;
        settle();
      } else if (message.type === 'warning') options.logger.warn(message.fields, message.message);
      else reason = message.message;
    });
    started.on('exit', onEnd);
    started.on('error', (error) => {
      reason = error.message;
      // A process that was never created emits no exit event.
      if (started.pid === undefined) onEnd(null, null);
    });
  };

  await new Promise<void>((resolve, reject) => {
    waiting.push({ resolve, reject });
    start(resolve);
  });
  options.logger.info({ port }, 'embedded ClickHouse listens');

  return {
    url: `http://127.0.0.1:${port}`,
    username: USERNAME,
    password,
    pid: () => child?.pid,
    detachedUntil: () => detachedUntil(folder),
    ready() {
      if (isReady) return Promise.resolve();
      if (startsFailed >= STARTS_FAILED_MAX) return Promise.reject(failure());
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async close() {
      isClosing = true;
      clearTimeout(restartTimer);
      settle(unavailable('the embedded ClickHouse was closed'));
      const closing = child;
      if (closing === undefined) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => closing.kill('SIGKILL'), CLOSE_WAIT_MS);
        closing.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
        // A child that is not ready does not read messages yet and has acknowledged nothing.
        if (isReady) closing.send({ type: 'close' } satisfies ParentMessage);
        else closing.kill('SIGKILL');
      });
    },
  };
}

function unavailable(message: string): DependencyError {
  return new DependencyError('analytics_unavailable', message);
}

function spawnChild(entry: string, options: ChildOptions, stderrFile: string): ChildProcess {
  // Crash reports of the engine may contain statements, so they go to a file and not to the log. Each start empties this file. Therefore the
  // file of the former process is renamed before.
  const former = statSync(stderrFile, { throwIfNoEntry: false });
  if (former?.isFile() === true && former.size > 0) renameSync(stderrFile, `${stderrFile}.former`);
  const stderr = openSync(stderrFile, 'w', 0o600);
  try {
    const loader = entry.endsWith('.ts') ? ['--import', 'tsx'] : [];
    return spawn(process.execPath, [...loader, entry, JSON.stringify(options)], {
      cwd: dirname(entry),
      // libuv reads the size of its thread pool from the environment. A running statement occupies one thread of this pool, so the pool
      // must be larger than `ACTIVE_MAX` (clickhouse-server.ts), the limit of running statements.
      // Without MALLOC_ARENA_MAX, the C library keeps freed memory for each of these threads.
      env: { UV_THREADPOOL_SIZE: String(THREADS), TZ: 'UTC', MALLOC_ARENA_MAX: String(ARENAS) },
      stdio: ['ignore', stderr, stderr, 'ipc'],
    });
  } finally {
    closeSync(stderr);
  }
}

function keptPassword(file: string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  // Earlier versions of Weir did not sync the file, so a power loss could leave it empty. ClickHouse would then have no password.
  if (kept !== '') return kept;
  const password = randomBytes(24).toString('base64url');
  // The file gets its final name after it was written and synced, so that a crash or a power loss cannot leave an empty password file.
  writeFileSync(`${file}.new`, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return password;
}
