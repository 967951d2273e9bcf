import { join } from 'node:path';
import { ask, livePid, portOf, startDaemon, stopDaemon, until } from './daemon.mjs';
import { aptInstall, hasCommand } from './installed.mjs';

const MARK = 'redis-server';

/** Debian's redis-server, with the settings that Weir needs (infra/redis/redis.conf). */
export const redis = {
  name: 'redis',
  variable: 'REDIS_URL',

  missing: () => (hasCommand('redis-server') ? [] : ['Redis: apt-get install redis-server']),
  install() {
    if (!hasCommand('redis-server')) aptInstall(['redis-server']);
  },

  async up(dir) {
    const port = await portOf(dir);
    if (livePid(dir, MARK) === undefined) {
      const settings = join(import.meta.dirname, '../redis/redis.conf');
      startDaemon(dir, MARK, [settings, '--port', String(port), '--bind', '127.0.0.1', '--dir', dir]);
    }
    const ready = await until(async () => (await ask(port, 'PING\r\n'))?.startsWith('+PONG'), 60_000);
    if (!ready) throw new Error(`Redis did not start: ${join(dir, 'log')}`);
    return address(port);
  },

  down: (dir) => stopDaemon(dir, MARK),

  async status(dir) {
    return livePid(dir, MARK) === undefined ? undefined : address(await portOf(dir));
  },
};

const address = (port) => `redis://127.0.0.1:${port}`;
