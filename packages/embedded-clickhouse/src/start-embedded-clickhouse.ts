import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { type ChildMessage, type ChildOptions, type ParentMessage, USERNAME } from './child-messages.ts';

export interface EmbeddedClickhouseOptions {
  readonly dataDir: string;
  /** The child's program: `dist/clickhouse-server.js`, or `server.ts` of this package (then run through tsx). */
  readonly entry: string;
  /** Default: any free one. */
  readonly port?: number;
  readonly logger: EmbeddedClickhouseLogger;
  /** The child died and is started again. */
  readonly onRestart?: () => void;
}

/** The part of pino's logger that is used here. */
export interface EmbeddedClickhouseLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EmbeddedClickhouse {
  /** Stays the same when the child is restarted. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The child's process ID now; undefined while it is down. */
  readonly pid: () => number | undefined;
  /** Resolves when the engine answers; rejects (`analytics_unavailable`) when the child ended at once STARTS_FAILED_MAX times in a row. */
  ready(): Promise<void>;
  /** Lets statements under way finish, then ends the child. */
  close(): Promise<void>;
}

const STARTS_FAILED_MAX = 5;
const RESTART_PAUSE_MAX_MS = 2_000;
const CLOSE_WAIT_MS = 15_000;
const THREADS = 16;

/** Starts the child and resolves when its port is known; `ready()` waits for the engine. */
export async function startEmbeddedClickhouse(options: EmbeddedClickhouseOptions): Promise<EmbeddedClickhouse> {
  const dataDir = resolve(options.dataDir);
  const folder = join(dataDir, 'clickhouse');
  mkdirSync(folder, { recursive: true });
  const passwordFile = join(dataDir, 'clickhouse.password');
  const password = keptPassword(passwordFile);

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
    const started = spawnChild(options.entry, { folder, passwordFile, port }, join(dataDir, 'clickhouse.stderr'));
    child = started;
    let reason = '';
    started.on('message', (message: ChildMessage) => {
      if (message.type === 'listening') {
        port = message.port;
        onListening();
      } else if (message.type === 'ready') {
        isReady = true;
        startsFailed = 0;
        settle();
      } else reason = message.message;
    });
    const onEnd = (code: number | null, signal: NodeJS.Signals | null): void => {
      const wasReady = isReady;
      child = undefined;
      isReady = false;
      if (isClosing) return;
      if (!wasReady) startsFailed += 1;
      lastFailure = reason || `it ended with ${signal ?? `code ${code}`}`;
      options.logger.warn({ code, signal, startsFailed }, 'embedded ClickHouse ended, starting it again');
      if (startsFailed >= STARTS_FAILED_MAX) settle(failure());
      // It never ran, so nobody holds it to close it.
      if (startsFailed >= STARTS_FAILED_MAX && port === 0) return;
      const pauseMs = wasReady ? 0 : Math.min(RESTART_PAUSE_MAX_MS, 50 * 2 ** startsFailed);
      restartTimer = setTimeout(() => start(onListening), pauseMs);
      options.onRestart?.();
    };
    started.on('exit', onEnd);
    started.on('error', (error) => {
      reason = error.message;
      // What was never a process never exits.
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
        // One that is not ready doesn't listen yet, and has acknowledged nothing.
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
  // The engine prints its crash reports itself; they may hold statements, so they are kept out of the log.
  const stderr = openSync(stderrFile, 'w', 0o600);
  try {
    const loader = entry.endsWith('.ts') ? ['--import', 'tsx'] : [];
    return spawn(process.execPath, [...loader, entry, JSON.stringify(options)], {
      cwd: dirname(entry),
      // libuv reads the size of its pool once, from the environment; every statement takes a thread of it.
      env: { UV_THREADPOOL_SIZE: String(THREADS), TZ: 'UTC' },
      stdio: ['ignore', stderr, stderr, 'ipc'],
    });
  } finally {
    closeSync(stderr);
  }
}

function keptPassword(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const password = randomBytes(24).toString('base64url');
  // Renamed when it is whole: a crash in between must not leave an empty password.
  writeFileSync(`${file}.new`, `${password}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return password;
}
