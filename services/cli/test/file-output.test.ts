import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { bareEnv, PROJECT_ROOT, TEST_ADMIN_TOKEN } from '@weir/testkit/weir-process';

const folder = mkdtempSync(join(tmpdir(), 'weir-output-'));
const file = join(folder, 'output');

/** Answers each call as the admin API answers SQL, and each export with the same bytes. */
let server: Server;
beforeAll(async () => {
  const rows = Array.from({ length: 500 }, (_, n) => ({ n: `row ${n}` }));
  const data = { columns: [{ name: 'n', type: 'String' }], rows };
  server = createServer((req, res) => {
    req.resume();
    res.end(JSON.stringify({ status: 'success', data }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Appends the output of `weir` to a file. No file can become larger than `blocks`. A larger write is cut, as on a full disk. */
async function toFile(blocks: string, ...args: readonly string[]) {
  writeFileSync(file, 'kept\n');
  return {
    ...(await runScript(`ulimit -f ${blocks}; exec "$@" >> ${file}`, args)),
    output: readFileSync(file, 'utf8'),
  };
}

/** Runs a shell script. In it, `"$@"` is `weir` with the arguments. */
async function runScript(script: string, args: readonly string[]) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, join(PROJECT_ROOT, 'dist/weir.js'), ...args], {
    env: bareEnv({ WEIR_URL: url, WEIR_ADMIN_TOKEN: TEST_ADMIN_TOKEN }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, stderr };
}

const failures: readonly [string, readonly string[], RegExp][] = [
  ['one write', ['sql', 'SELECT 1', '--json'], /^weir: can't write to standard output: EFBIG.*\n$/],
  ['a stream', ['export', 'events', '--site', 'shop'], /^weir: the export is incomplete: .*EFBIG.*\n$/],
  [
    'a download',
    ['person', 'export', '--site', 'shop', '--user', '42'],
    /^weir: can't write to standard output: EFBIG.*\n$/,
  ],
  ['help', ['import', '--help'], /^weir: can't write to standard output: EFBIG.*\n$/],
];

test.each(failures)(
  '%s that does not fit into a file is an error of one line, and not only a shorter file',
  async (_, args, said) => {
    const whole = await toFile('unlimited', ...args);
    expect(whole.code).toBe(0);
    expect(whole.output.startsWith('kept\n')).toBe(true);
    const cut = await toFile('1', ...args);
    expect(cut.output.length).toBeLessThan(whole.output.length);
    expect(cut).toMatchObject({ code: 1, stderr: expect.stringMatching(said) });
  },
);

test.each(failures)('%s to a device that is full is an error of one line', async (_, args, said) => {
  const { code, stderr } = await runScript('exec "$@" > /dev/full', args);
  expect(stderr).toMatch(new RegExp(said.source.replace('EFBIG', 'ENOSPC')));
  expect(code).toBe(1);
});

test('a device that takes everything is no error', async () => {
  expect(await runScript('exec "$@" > /dev/null', ['import', '--help'])).toEqual({ code: 0, stderr: '' });
});
