import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createAdminClient } from '../src/admin-client.ts';
import { cli } from './cli-harness.ts';

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly data?: unknown;
  readonly message?: string;
  /** The body, if it is not that of Weir. */
  readonly text?: string;
}

let server: Server;
let url: string;
let answer: (request: IncomingMessage) => Answer | undefined;
beforeAll(async () => {
  server = createServer((request, response) => {
    const given = answer(request);
    if (given === undefined) return;
    const { status, headers, data, message, text } = given;
    response.writeHead(status, headers);
    response.end(
      text ??
        JSON.stringify(
          status < 400 ? { status: 'success', data } : { status: 'error', error: { code: status, message } },
        ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const env = () => ({ WEIR_URL: url, WEIR_ADMIN_TOKEN: 'a-token-with-16-characters' });

test.each([
  ['site', 'list'],
  ['replay', 'start', '--from', 'raw'],
  ['person', 'export', '--site', 's', '--user', 'u'],
])('weir %s %s says that a server has no TLS', async (...args) => {
  answer = () => undefined;
  const https = url.replace('http:', 'https:');
  const { exitCode, err } = await cli(args, { env: { ...env(), WEIR_URL: https } });
  expect([exitCode, err]).toEqual([
    3,
    `weir: can't reach Weir at ${https}: the server there answers without TLS; set WEIR_URL to an address that begins with http://\n`,
  ]);
});

test('weir site set --help explains each option', async () => {
  const { out } = await cli(['site', 'set', '--help'], { env: env() });
  expect(out).toContain('A shorter --keep time removes the older rows within minutes.');
  expect(out).toMatch(/--name <name> +name of the site.*\n +--domain <domain> +domain of the site/);
});

test('a call with its own time limit says how long it waited', async () => {
  answer = () => undefined;
  const client = createAdminClient({ url, adminToken: 'token', tokenFrom: 'WEIR_ADMIN_TOKEN' });
  await expect(client.call('GET', '/audit', undefined, 50)).rejects.toThrow(
    /has not answered within 0\.05 s, and can still be working on the call/,
  );
});

test.each([
  [['audit', '--json'], { balanced: true, partitions: [], totals: {} }],
  [['audit', '--reports', '--json'], { agree: true, compared: [] }],
])('weir %j waits longer than other calls', async (args, data) => {
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  answer = () => ({ status: 200, data });
  expect((await cli(args, { env: env() })).json).toEqual(data);
  expect(timeout.mock.calls).toEqual([[600_000]]);
  timeout.mockRestore();
});

test('a refused long call has the message of Weir', async () => {
  answer = () => ({ status: 409, message: 'there is a replay already' });
  const { exitCode, err } = await cli(['replay', 'start', '--from', 'raw'], { env: env() });
  expect([exitCode, err]).toEqual([1, 'weir: there is a replay already\n']);
});

test('a web page is not written as an export', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-page-'));
  const file = join(folder, 'shop.ndjson');
  writeFileSync(file, 'the last export');
  answer = () => ({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, text: '<!doctype html>' });
  const notWeir = `weir: the server at ${url} is not Weir (status 200): check WEIR_URL\n`;
  for (const command of [
    ['export', 'everything', '--site', 'shop', '--to', file],
    ['person', 'export', '--user', '42', '--site', 'shop'],
  ]) {
    expect(await cli(command, { env: env() })).toMatchObject({ exitCode: 3, out: '', err: notWeir });
  }
  expect(readFileSync(file, 'utf8')).toBe('the last export');
  rmSync(folder, { recursive: true });
});

test.each([
  ['events.parquet', [], 'parquet'],
  ['events.csv.gz', [], 'csv'],
  ['events', [], 'ndjson'],
  ['events.parquet', ['--format', 'csv'], 'csv'],
])('weir export to %s with %j asks for %s', async (name, options, format) => {
  const asked: string[] = [];
  answer = ({ url: path = '' }) => {
    asked.push(path);
    return { status: 404, message: 'site not found' };
  };
  await cli(['export', 'events', '--site', 'shop', '--to', join(tmpdir(), name), ...options], { env: env() });
  expect(asked).toEqual([`/api/admin/sites/shop/export/events?format=${format}`]);
});

test.each([[['site', 'list']], [['audit']]])('weir %j does not follow a redirect', async (command) => {
  // If a client follows a redirect to another origin, `fetch` leaves out the token. The server answers /secure/ as Weir answers a call without a
  // token.
  answer = ({ url: path = '' }) =>
    path.startsWith('/secure/')
      ? { status: 401, message: 'missing or invalid admin token' }
      : { status: 301, headers: { location: `${url}/secure${path}` }, text: '' };
  const { exitCode, err } = await cli(command, { env: env() });
  const redirect = `(status 301, redirect to ${url}/secure/api/admin/`;
  expect([exitCode, err]).toEqual([3, expect.stringContaining(`is not Weir ${redirect}`)]);
});

test('replay start ends if the tables were swapped before it saw that the replay had all records', async () => {
  const replay = { replay_id: 'replay_1', problem: null, records_copied: 0, records_to_copy: 0 };
  const records = { records_replayed: 0, records_to_replay: 0 };
  answer = ({ method }) => ({
    status: 200,
    data: { ...replay, ...records, phase: method === 'POST' ? 'create' : 'swapped' },
  });
  const started = await cli(['replay', 'start', '--from', 'raw', '--json'], { env: env() });
  expect([started.exitCode, started.json]).toMatchObject([0, { phase: 'swapped' }]);
});

test.each([
  ['none', null, 'Weir restarted, so the backup was not completed: start it again'],
  [
    'a later one',
    { started_at: '2026-11-22T04:00:00.000Z', state: 'done', backup_id: '20261122T040000Z' },
    'Weir made another backup since then, so this command cannot see whether its own was completed: weir backup list /mnt/backups shows the completed ones',
  ],
])('a backup that Weir shows no more is not called complete: it shows %s', async (_, later, message) => {
  let polls = 0;
  const started = { started_at: '2026-11-22T03:00:00.000Z', state: 'running', bytes_done: 0, bytes_total: 0 };
  answer = ({ method }) => {
    if (method === 'POST') return { status: 201, data: started };
    return polls++ === 0 ? { status: 503, message: 'Weir is starting' } : { status: 200, data: later };
  };
  const { exitCode, err } = await cli(['backup', 'create', '/mnt/backups'], { env: env() });
  expect([exitCode, err]).toEqual([1, `waiting: Weir is starting\nweir: ${message}\n`]);
});

test('weir forget says why it waits, and shows the receipt when Weir answers again', async () => {
  let polls = 0;
  answer = () =>
    polls++ === 0
      ? { status: 503, message: 'Weir is starting' }
      : { status: 200, data: { phase: 'done', removed: {}, archive: null, remains: [] } };
  const { exitCode, err } = await cli(['forget', '--receipt', 'erasure_1'], { env: env() });
  expect([exitCode, err]).toEqual([0, 'erasure_1: waiting: Weir is starting\n']);
});

test('Ctrl-C while a command waits for Weir ends it with the exit code of an interruption', async () => {
  const controller = new AbortController();
  answer = () => {
    controller.abort();
    return { status: 503, message: 'Weir is starting' };
  };
  const { exitCode, err } = await cli(['forget', '--receipt', 'erasure_1'], {
    env: env(),
    interruption: () => controller.signal,
  });
  const advice = 'interrupted; Weir goes on: weir forget --receipt erasure_1 shows the rest';
  expect([exitCode, err]).toEqual([130, `weir: ${advice}\n`]);
});

test('an import waits for an election that holds the first call for 20 s and then refuses it', async () => {
  let now = 0;
  let refusals = 0;
  answer = ({ method, url: path = '' }) => {
    if (method === 'GET') return { status: 200, data: { domain: 'example.com', timezone: 'UTC' } };
    if (path.endsWith('/finish')) return { status: 200, data: { queryable: true } };
    if (refusals++ > 0)
      return { status: 200, data: { lease: 'lease', lines_done: 1, hits_appended: 1, finished: true } };
    now += 20_000;
    return { status: 409, headers: { 'retry-after': '0' }, message: 'another process accepts imports' };
  };
  const stdin = Readable.from(['127.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"\n']);
  const { exitCode, err } = await cli(['import', '-', '--site', 'shop'], { env: env(), stdin, clock: () => now });
  expect([exitCode, err]).toEqual([0, expect.stringContaining('waiting: another process accepts imports')]);
});
