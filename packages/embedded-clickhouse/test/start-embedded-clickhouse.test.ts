import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { eventually } from '@weir/testkit/eventually';
import { isRunning } from '@weir/testkit/weir-process';
import { type EmbeddedClickhouse, startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

const ENTRY = join(__dirname, '../src/clickhouse-server.ts');
const logger = { info: () => undefined, warn: () => undefined };

let root: string;
let dataDir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-embedded-'));
  // The name has an apostrophe and a backslash, because SQL statements and arguments of the engine contain paths of this folder.
  dataDir = join(root, "o'brien\\n");
});
afterEach(() => rmSync(root, { recursive: true }));

interface Address {
  readonly url: string;
  readonly password: string;
}

async function ask({ url, password }: Address, query: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'X-ClickHouse-User': 'weir', 'X-ClickHouse-Key': password, ...init.headers };
  return fetch(`${url}/?query=${encodeURIComponent(query)}`, { method: 'POST', ...init, headers });
}

const answer = async (address: Address, query: string): Promise<string> => (await ask(address, query)).text();

/** The file `stat` of a thread. Empty if the thread has ended. */
function threadStat(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

/** The status of a GET with this request target. `fetch` cannot send a target that is not a valid URL. */
async function statusOf({ url }: { readonly url: string }, target: string): Promise<number | undefined> {
  const sent = httpRequest(url, { path: target }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

it('replaces a password file that a power loss has left empty', async () => {
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'clickhouse.password'), '');
  const clickhouse = await startEmbeddedClickhouse({ dataDir, entry: ENTRY, logger });
  try {
    await clickhouse.ready();
    expect(clickhouse.password).toHaveLength(32);
    expect(await answer(clickhouse, 'SELECT 1')).toBe('1\n');
    expect((await ask({ ...clickhouse, password: '' }, 'SELECT 1')).status).toBe(403);
  } finally {
    await clickhouse.close();
  }
});

describe("ClickHouse's HTTP interface", () => {
  let clickhouse: EmbeddedClickhouse;
  beforeEach(async () => {
    clickhouse = await startEmbeddedClickhouse({ dataDir, entry: ENTRY, logger });
    await clickhouse.ready();
  });
  afterEach(() => clickhouse.close());

  it('accepts requests with the password, and only the owner can read the password file', async () => {
    const file = join(dataDir, 'clickhouse.password');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(clickhouse.password);

    const { url, password } = clickhouse;
    const basic = `Basic ${Buffer.from(`weir:${password}`).toString('base64')}`;
    expect(await (await fetch(`${url}/?query=SELECT%201`, { headers: { Authorization: basic } })).text()).toBe('1\n');
    expect(await (await fetch(`${url}/?query=SELECT%201&user=weir&password=${password}`)).text()).toBe('1\n');
    expect((await fetch(`${url}/ping`)).status).toBe(200);

    const anonymous = await fetch(`${url}/?query=SELECT%201`);
    expect(anonymous.status).toBe(401);
    const wrong = await ask({ url, password: 'wrong' }, 'SELECT 1');
    expect(wrong.status).toBe(403);
    expect(wrong.headers.get('x-clickhouse-exception-code')).toBe('516');
  });

  it('refuses a request target that is not a valid URL, and keeps running', async () => {
    const pid = clickhouse.pid();
    for (const target of ['//', 'http://[', '//:x'])
      expect([target, await statusOf(clickhouse, target)]).toEqual([target, 400]);
    expect(await answer(clickhouse, 'SELECT 1')).toBe('1\n');
    expect(clickhouse.pid()).toBe(pid);
  });

  it('has a lower priority than its parent, so that reports do not delay the gateway', async () => {
    expect(await answer(clickhouse, 'SELECT 1')).toBe('1\n');
    const pid = clickhouse.pid() ?? 0;
    expect(getPriority(pid)).toBe(Math.min(getPriority() + 5, 19));
    if (process.platform !== 'linux') return;
    // The threads that run statements have the priority of their process. The priority of a thread is the 19th value of its file `stat`.
    const tasks = readdirSync(`/proc/${pid}/task`).map((task) => threadStat(`/proc/${pid}/task/${task}/stat`));
    const ofEngine = tasks
      .filter((stat) => stat.includes('(ThreadPool)'))
      .map((stat) => stat.split(') ')[1]?.split(' ')[16]);
    expect(new Set(ofEngine)).toEqual(new Set([String(getPriority(pid))]));
  });

  it('supports formats, parameters and settings, and returns errors in the format of ClickHouse', async () => {
    const url = `${clickhouse.url}/?default_format=JSONEachRow&param_n=5&max_threads=1&database=system&query_id=q-1`;
    const headers = { 'X-ClickHouse-User': 'weir', 'X-ClickHouse-Key': clickhouse.password };
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: "SELECT {n:UInt8} AS n, getSetting('max_threads') AS threads, currentDatabase() AS db",
    });
    expect(await response.json()).toEqual({ n: 5, threads: 1, db: 'system' });
    expect(response.headers.get('x-clickhouse-query-id')).toBe('q-1');
    expect(response.headers.get('x-clickhouse-format')).toBe('JSONEachRow');
    expect(JSON.parse(response.headers.get('x-clickhouse-summary') ?? '')).toHaveProperty('read_rows');

    const unknown = await ask(clickhouse, 'SELECT nothing FROM nowhere');
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get('x-clickhouse-exception-code')).toBe('60');
    expect(await unknown.text()).toMatch(/^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\)/);
    expect((await ask(clickhouse, 'SELECT 1; SELECT 2')).status).toBe(400);
    expect((await ask(clickhouse, "SELECT 1 INTO OUTFILE '/tmp/weir'")).status).toBe(400);
    // Settings and parameters of one request do not apply to the next one.
    expect((await ask(clickhouse, 'SELECT {n:UInt8}')).status).not.toBe(200);
  });

  it('accepts parameters of any length, like a ClickHouse server, and limits only the size of the query', async () => {
    const form = new FormData();
    const long = "it's \\".repeat(200_000);
    // A server reads a parameter like a value of TabSeparated, so backslashes are escaped.
    form.set('param_long', long.replace(/\\/g, '\\\\'));
    form.set('param_short', 'x');
    form.set('query', 'SELECT length({long:String}), {short:String}');
    expect(await (await ask(clickhouse, '', { body: form })).text()).toBe(`${long.length}\tx\n`);
    const tooLong = await ask(clickhouse, '', { body: `SELECT '${'x'.repeat(256 * 1024)}'` });
    expect([tooLong.status, await tooLong.text()]).toEqual([400, expect.stringContaining('Max query size exceeded')]);
  });

  it('inserts plain and compressed bodies, and refuses changes with GET', async () => {
    await ask(clickhouse, 'CREATE TABLE t (a UInt8, b String) ENGINE = MergeTree ORDER BY a');
    await ask(clickhouse, 'INSERT INTO t FORMAT JSONCompactEachRow', { body: '[1,"one"]\n' });
    const packed = gzipSync('2,two\n');
    await ask(clickhouse, 'INSERT INTO t FORMAT CSV', { body: packed, headers: { 'Content-Encoding': 'gzip' } });
    await ask(clickhouse, "INSERT INTO t VALUES (3, 'three')");
    await ask(clickhouse, '', { body: "INSERT INTO t VALUES (4, 'four; five')" });
    expect((await ask(clickhouse, 'DROP TABLE t', { method: 'GET' })).status).toBe(400);
    expect(await answer(clickhouse, 'SELECT a, b FROM t ORDER BY a')).toBe('1\tone\n2\ttwo\n3\tthree\n4\tfour; five\n');
  });

  it('streams an answer while it is computed, and stops computing when the reader leaves', async () => {
    const stream = (query: string): Promise<Response> => {
      const headers = { 'X-ClickHouse-User': 'weir', 'X-ClickHouse-Key': clickhouse.password };
      return fetch(`${clickhouse.url}/?wait_end_of_query=0&readonly=1`, {
        method: 'POST',
        headers: { ...headers, 'X-ClickHouse-Format': 'JSONEachRow' },
        body: query,
      });
    };
    expect(await (await stream('SELECT 1 AS one')).text()).toBe('{"one":1}\n');
    const wrong = await stream('SELECT nothing FROM nowhere');
    expect([wrong.status, wrong.headers.get('x-clickhouse-exception-code')]).toEqual([404, '60']);
    expect((await stream('SELECT 1 FORMAT CSV')).status).toBe(400);
    expect((await stream('CREATE TABLE made (a UInt8) ENGINE = Memory')).status).not.toBe(200);
    // Runs more statements than can run at once, one after the other: each statement must make room for the next one.
    for (let n = 0; n < 15; n++) {
      const endless = await stream('SELECT number FROM numbers(1000000000000)');
      expect(endless.status).toBe(200);
      await endless.body?.cancel();
    }
    expect(await answer(clickhouse, 'SELECT 1')).toBe('1\n');
    await eventually('no pipe is left', () => readdirSync(join(dataDir, 'clickhouse.pipes')).length === 0);
  });

  it('is restarted on the same port when it is killed', async () => {
    await ask(clickhouse, 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a');
    await ask(clickhouse, 'INSERT INTO t VALUES (1)');
    const before = clickhouse.pid() as number;
    process.kill(before, 'SIGKILL');
    await eventually('another child', () => clickhouse.pid() !== undefined && clickhouse.pid() !== before);
    await clickhouse.ready();
    expect(await answer(clickhouse, 'SELECT count() FROM t')).toBe('1\n');
  });
});

describe('when the parent is killed', () => {
  let parents: ChildProcess[] = [];
  afterEach(() => {
    for (const parent of parents) parent.kill('SIGKILL');
    parents = [];
  });

  async function startParent(): Promise<Address & { readonly pid: number; readonly parent: ChildProcess }> {
    const parent = spawn(process.execPath, ['--import', 'tsx', join(__dirname, 'parent.ts'), dataDir, ENTRY], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    parents.push(parent);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    return { ...(JSON.parse(line.toString()) as Address & { pid: number }), parent };
  }

  it('its child ends too, and the next parent opens the folder with all acknowledged rows', async () => {
    const first = await startParent();
    await ask(first, 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a');
    await ask(first, 'INSERT INTO t VALUES (1)');
    first.parent.kill('SIGKILL');
    const second = await startParent();
    expect(second.password).toBe(first.password);
    expect(await answer(second, 'SELECT count() FROM t')).toBe('1\n');
    await eventually('the first child is gone', () => !isRunning(first.pid));
    second.parent.kill('SIGKILL');
    await eventually('the second child is gone', () => !isRunning(second.pid));
  });
});

describe('when the engine cannot start', () => {
  it('the start rejects', async () => {
    await expect(startEmbeddedClickhouse({ dataDir, entry: join(dataDir, 'missing.js'), logger })).rejects.toThrow(
      'does not start',
    );
  });

  it('the start rejects also if the process cannot be created, which emits no exit event', async () => {
    const entry = join(dataDir, 'missing', 'server.js');
    await expect(startEmbeddedClickhouse({ dataDir, entry, logger })).rejects.toMatchObject({
      code: 'analytics_unavailable',
      message: expect.stringMatching(/does not start: spawn .* ENOENT/),
    });
  });

  it('the error contains the reason of the last exit, not of an earlier one', async () => {
    const entry = join(root, 'server.mjs');
    const said = JSON.stringify(join(root, 'said'));
    const first = `writeFileSync(${said}, ''); process.send({ type: 'failed', message: 'an earlier one' });`;
    const program = `import { existsSync, writeFileSync } from 'node:fs'; if (!existsSync(${said})) { ${first} }`;
    writeFileSync(entry, `${program} process.exitCode = 7; process.disconnect();`);
    await expect(startEmbeddedClickhouse({ dataDir, entry, logger })).rejects.toThrow('it ended with code 7');
  });

  it('close kills a child that is not ready yet, because it does not read messages', async () => {
    const entry = join(root, 'server.mjs');
    writeFileSync(entry, "process.send({ type: 'listening', port: 1 }); setInterval(() => undefined, 60_000);");
    const clickhouse = await startEmbeddedClickhouse({ dataDir, entry, logger });
    const pid = clickhouse.pid() as number;
    const told = expect(clickhouse.ready()).rejects.toMatchObject({ code: 'analytics_unavailable' });
    await clickhouse.close();
    await told;
    expect(isRunning(pid)).toBe(false);
    // If `close` waited for this child as for a child that is ready, it would take longer than this limit of the test.
  }, 10_000);
});
