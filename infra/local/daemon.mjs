import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Starts a process that outlives this one. Its output goes to the file `<dir>/log`, its process ID to `<dir>/pid`. */
export function startDaemon(dir, command, args, env = process.env) {
  mkdirSync(dir, { recursive: true });
  const log = openSync(join(dir, 'log'), 'a');
  const child = spawn(command, args, { cwd: dir, detached: true, stdio: ['ignore', log, log], env });
  child.unref();
  writeFileSync(join(dir, 'pid'), String(child.pid));
  return child;
}

/**
 * The process ID in `<dir>/pid`, if that process is alive and its command line contains `mark`; otherwise undefined. `mark` is needed,
 * because the operating system reuses process IDs.
 */
export function livePid(dir, mark) {
  const file = join(dir, 'pid');
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8'));
  return isAlive(pid, mark) ? pid : undefined;
}

function isAlive(pid, mark) {
  try {
    process.kill(pid, 0);
    // A zombie process has ended, but its parent has not waited for it yet. Its command line is empty, so it does not count as alive.
    return !existsSync('/proc') || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
  } catch {
    return false;
  }
}

/**
 * Ends the process with SIGTERM, and after `politeMs` with SIGKILL. Resolves when the process is dead, because a broker that is
 * shutting down still accepts records.
 */
export async function stopDaemon(dir, mark, politeMs = 15_000) {
  const pid = livePid(dir, mark);
  if (pid !== undefined) {
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGCONT');
    if (!(await until(() => !isAlive(pid, mark), politeMs))) process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid, mark), 15_000);
  }
  rmSync(join(dir, 'pid'), { force: true });
}

export async function until(probe, withinMs) {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    if (await probe()) return true;
    await pause(50);
  }
  return false;
}

/**
 * The port in the file `<dir>/<name>`, so that the address stays the same after a restart. If the file does not exist, chooses a free port
 * and writes the file.
 */
export async function portOf(dir, name = 'port') {
  const file = join(dir, name);
  if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  writeFileSync(file, String(port));
  return port;
}

/** A free port outside the range of ephemeral ports, so that it is still free after a restart (as in packages/testkit). */
async function freePort() {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 21_000);
    if (await isFree(port)) return port;
  }
}

/** Tests reserve a port by opening the UDP port with the same number (packages/testkit/src/free-port.ts). */
async function isFree(port) {
  const isReserved = !(await opens(createSocket('udp4'), (socket) => socket.bind(port, '127.0.0.1')));
  return !isReserved && opens(createServer(), (server) => server.listen(port, '127.0.0.1'));
}

function opens(socket, open) {
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
    socket.once('listening', () => socket.close(() => resolve(true)));
    open(socket);
  });
}

/**
 * Sends `text` and resolves with the first bytes of the answer. Resolves with undefined after an error, or after a second
 * without an answer.
 */
export function ask(port, text) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => end(undefined));
    socket.once('error', () => end(undefined));
    socket.once('data', (data) => end(data.toString()));
    socket.write(text);
  });
}
