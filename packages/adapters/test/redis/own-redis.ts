import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { installLocal } from '@weir/testkit/live-local';
import { Redis, type RedisOptions } from 'ioredis';

export interface OwnRedis {
  readonly port: number;
  /** The port for the other servers of a Cluster. */
  readonly busPort: number;
  /** Sends a command over a connection of the test, not of the store. */
  call(command: string, ...args: string[]): Promise<unknown>;
  kill9(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a redis-server with the given settings, in a folder that `stop` removes. `client`: options of the test's connection. */
export async function startOwnRedis(
  args: readonly string[],
  client: Pick<RedisOptions, 'tls'> = {},
): Promise<OwnRedis> {
  installLocal('redis');
  // The default of the bus port is the port + 10000. Clients of other suites may use that port, and the server would not start.
  const [port, busPort] = [await freePort(), await freePort()];
  const dir = mkdtempSync(join(tmpdir(), 'weir-redis-'));
  const listen = client.tls === undefined ? ['--port', `${port}`] : ['--port', '0', '--tls-port', `${port}`];
  const log = join(dir, 'log');
  const place = ['--cluster-port', `${busPort}`, '--bind', '127.0.0.1', '--dir', dir, '--logfile', log];
  const given = args.map((word) => word.replace('{dir}', dir));
  const child = spawn('redis-server', [...given, ...listen, ...place], { stdio: 'ignore' });
  const connection = new Redis(port, '127.0.0.1', client.tls === undefined ? {} : { tls: client.tls });
  // Ignores connection errors while the server starts.
  connection.on('error', () => undefined);
  await eventually('redis answers', () => connection.ping().then(() => true)).catch((cause: unknown) => {
    throw new Error(`Redis does not answer: ${readFileSync(log, 'utf8')}`, { cause });
  });
  const kill9 = async (): Promise<void> => {
    connection.disconnect();
    child.kill('SIGKILL');
    await gone(child);
  };
  return {
    port,
    busPort,
    call: (command, ...words) => connection.call(command, ...words),
    kill9,
    async stop() {
      await kill9();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
}
