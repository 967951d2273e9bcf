import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { livePid, portOf, startDaemon, stopDaemon, until } from './daemon.mjs';
import { run } from './installed.mjs';
import { ROOT } from './layout.mjs';

const MARK = 'clickhouse-server.mjs';
const PACKAGE = join(ROOT, 'packages/embedded-clickhouse/src');

/** The embedded ClickHouse with its HTTP interface, as a separate process. */
export const clickhouse = {
  name: 'clickhouse',
  variable: 'CLICKHOUSE_URL',

  missing: () => (existsSync(join(ROOT, 'node_modules/chdb')) ? [] : ['chdb: npm ci']),
  install() {
    if (!existsSync(join(ROOT, 'node_modules/chdb'))) run('npm', ['ci', '--prefix', ROOT]);
  },

  async up(dir) {
    if (livePid(dir, MARK) === undefined) {
      rmSync(join(dir, 'url'), { force: true });
      const program = join(import.meta.dirname, MARK);
      const args = [
        '--import',
        import.meta.resolve('tsx'),
        program,
        join(dir, 'data'),
        join(dir, 'url'),
        join(PACKAGE, 'clickhouse-server.ts'),
        String(await portOf(dir)),
      ];
      startDaemon(dir, process.execPath, args);
    }
    const ready = await until(() => addressOf(dir) !== undefined || livePid(dir, MARK) === undefined, 60_000);
    const address = addressOf(dir);
    if (!ready || address === undefined) throw new Error(`ClickHouse did not start: ${join(dir, 'log')}`);
    return address;
  },

  down: (dir) => stopDaemon(dir, MARK, 30_000),

  async status(dir) {
    return livePid(dir, MARK) === undefined ? undefined : addressOf(dir);
  },
};

function addressOf(dir) {
  const file = join(dir, 'url');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
