import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { installLocal } from '@weir/testkit/live-local';
import { Redis, type RedisOptions } from 'ioredis';

export interface OwnRedis {
  readonly port: number;
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
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'weir-redis-'));
  const listen = client.tls === undefined ? ['--port', `${port}`] : ['--port', '0', '--tls-port', `${port}`];
  const given = args.map((word) => word.replace('{dir}', dir));
  const child = spawn('redis-server', [...given, ...listen, '--bind', '127.0.0.1', '--dir', dir], { stdio: 'ignore' });
  const connection = new Redis(port, '127.0.0.1', client.tls === undefined ? {} : { tls: client.tls });
  // Ignores connection errors while the server starts.
  connection.on('error', () => undefined);
  await eventually('redis answers', () => connection.ping().then(() => true));
  const kill9 = async (): Promise<void> => {
    connection.disconnect();
    child.kill('SIGKILL');
    await gone(child);
  };
  return {
    port,
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
