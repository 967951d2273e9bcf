import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { livePid, portOf, startDaemon, stopDaemon, until } from './daemon.mjs';
import { aptInstall, run } from './installed.mjs';
import { ROOT } from './layout.mjs';

const VERSION = '5.1.22';
const VENV = join(ROOT, `.cache/services/moto-${VERSION}`);
const SERVER = join(VENV, 'bin/moto_server');
/** This file is written when the installation is complete. */
const DONE = join(VENV, 'installed');
const MARK = 'moto_server';

/** moto (Apache-2.0, from PyPI): a server with the S3 API, for tests of the archive and of exports. It keeps all data in memory. */
export const s3 = {
  name: 's3',
  variable: 'S3_ENDPOINT',

  missing: () => (existsSync(DONE) ? [] : [`S3: moto ${VERSION} from PyPI, by CI=true`]),
  install() {
    if (existsSync(DONE)) return;
    if (!existsSync('/usr/bin/python3')) aptInstall(['python3', 'python3-venv']);
    try {
      run('python3', ['-m', 'venv', VENV]);
    } catch {
      // Without this package, Debian's python3 cannot create a virtual environment with pip.
      aptInstall(['python3-venv']);
      run('python3', ['-m', 'venv', '--clear', VENV]);
    }
    run(join(VENV, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', `moto[server]==${VERSION}`]);
    run('touch', [DONE]);
  },

  async up(dir) {
    const port = await portOf(dir);
    if (livePid(dir, MARK) === undefined) startDaemon(dir, SERVER, ['-H', '127.0.0.1', '-p', String(port)]);
    const answers = () =>
      fetch(`${address(port)}/moto-api/data.json`).then(
        ({ ok }) => ok,
        () => false,
      );
    if (!(await until(answers, 60_000))) throw new Error(`moto did not start: ${join(dir, 'log')}`);
    return address(port);
  },

  down: (dir) => stopDaemon(dir, MARK),

  async status(dir) {
    return livePid(dir, MARK) === undefined ? undefined : address(await portOf(dir));
  },
};

const address = (port) => `http://127.0.0.1:${port}`;
