import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createAdminClient } from '../src/admin-client.ts';
import { cli } from './cli-harness.ts';

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly data?: unknown;
  readonly message?: string;
}

let server: Server;
let url: string;
let answer: (request: IncomingMessage) => Answer | undefined;
beforeAll(async () => {
  server = createServer((request, response) => {
    const given = answer(request);
    if (given === undefined) return;
    const { status, headers, data, message } = given;
    response.writeHead(status, headers);
    response.end(
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

test('a call with its own time limit says how long it waited', async () => {
  answer = () => undefined;
  const client = createAdminClient({ url, adminToken: 'token' });
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

test('a backup during which Weir restarts is not called complete', async () => {
  answer = ({ method }) =>
    method === 'POST'
      ? { status: 201, data: { state: 'running', bytes_done: 0, bytes_total: 0 } }
      : { status: 200, data: null };
  const { exitCode, err } = await cli(['backup', 'create', '/mnt/backups'], { env: env() });
  expect([exitCode, err]).toEqual([1, 'weir: Weir restarted, so the backup was not completed: start it again\n']);
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
