import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { bareEnv, PROJECT_ROOT, runProgram, startWeir } from '@weir/testkit/weir-process';
import { holdInserts } from './hold-inserts.ts';

let dataDir = '';
let children: ChildProcess[] = [];
let closers: (() => Promise<void> | void)[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-stopping-'));
});
afterEach(async () => {
  for (const close of closers.toReversed()) await close();
  closers = [];
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(dataDir, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

/** Starts Weir without waiting for it, because these tests stop it before it is ready. */
function start(env: Readonly<Record<string, string>>): Started {
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'dist/main.js')], {
    // On a busy machine, Weir can need more than the default of 20 s to end.
    env: bareEnv({ WEIR_DATA_DIR: dataDir, WEIR_DRAIN_TIMEOUT_MS: '40000', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, output: () => printed, ended };
}

/** A URL on which no process listens. */
const away = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

describe('SIGTERM drains: every accepted request is answered', () => {
  test('also while ClickHouse is unavailable: the banner was printed, and the request in progress is answered', async () => {
    const port = await freePort();
    const weir = start({ PORT: String(port), CLICKHOUSE_URL: await away() });
    const key = await eventually('the banner', () => /Bearer (wk_\S+?)'/.exec(weir.output())?.[1]);
    expect(weir.output()).toMatch(/admin token {2}wat_/);

    const body = JSON.stringify({ name: 'under way' });
    const sent = request({
      port,
      method: 'POST',
      path: '/api/v1/events',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    const answered = new Promise<number>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => {
        text(response).then(() => resolve(response.statusCode ?? 0), reject);
      });
    });
    answered.catch(() => undefined);
    const taken = new Promise((resolve) => sent.once('continue', resolve));
    sent.flushHeaders();
    await taken;
    weir.child.kill('SIGTERM');
    await Promise.race([weir.ended, eventually('the drain', () => weir.output().includes('draining'))]);
    sent.end(body);
    expect(await answered).toBe(202);
    expect(await weir.ended).toBe(0);
  });

  test('a stop before the embedded ClickHouse is available exits with 0', async () => {
    const weir = start({ PORT: '0' });
    await eventually('the embedded ClickHouse', () => weir.output().includes('embedded ClickHouse listens'));
    weir.child.kill('SIGTERM');
    expect(await weir.ended).toBe(0);
    expect(weir.output()).toContain('draining');
  });
});

describe('operations.md, WEIR_DRAIN_TIMEOUT_MS', () => {
  test('also limits the time for inserts: the next start repeats an insert without an answer, and its rows are stored once', async () => {
    const logger = { info: () => undefined, warn: () => undefined };
    const entry = join(PROJECT_ROOT, 'dist/clickhouse-server.js');
    const clickhouse = await startEmbeddedClickhouse({ dataDir, entry, logger });
    closers.push(() => clickhouse.close());
    await clickhouse.ready();
    const hold = await holdInserts(Number(new URL(clickhouse.url).port));
    closers.push(() => hold.close());
    const url = `http://${clickhouse.username}:${clickhouse.password}@127.0.0.1:${hold.port}`;
    const weir = await startWeir({ dataDir, env: { CLICKHOUSE_URL: url, WEIR_DRAIN_TIMEOUT_MS: '0' } });
    closers.push(() => weir.kill9());
    const site = await weir.client.createSite();
    const { key } = await weir.client.createKey(site);
    expect((await weir.client.events(key, { name: 'under way' })).status).toBe(202);
    await eventually('the insert', () => hold.held() > 0);
    expect(await weir.terminate()).toBe(1);
    expect(weir.output()).toContain('the drain took too long');

    hold.letThrough();
    // The next start uses the default drain timeout. With a timeout of 0, Weir could not end in time on a busy machine, and the exit code would be 1.
    const next = await startWeir({ dataDir, env: { CLICKHOUSE_URL: url } });
    closers.push(() => next.kill9());
    await next.client.settled();
    expect(await next.client.number(`SELECT count() FROM events WHERE site_id = '${site}'`)).toBe(1);
    expect(await next.terminate()).toBe(0);
  });
});

describe('a start that fails', () => {
  test('prints the reason and exits with an error, also while ClickHouse is unavailable', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) =>
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
    );
    const env = { PORT: String(port), CLICKHOUSE_URL: await away(), WEIR_DATA_DIR: dataDir };
    const run = await runProgram('main.js', [], env);
    taken.close();
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      new RegExp(`^weir: .*EADDRINUSE.*${port}\\. Another program uses this port: set PORT$`, 'm'),
    );
  });

  test('says that HOST is no address of this machine', async () => {
    const env = { HOST: '192.0.2.1', PORT: '0', CLICKHOUSE_URL: await away(), WEIR_DATA_DIR: dataDir };
    const run = await runProgram('main.js', [], env);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^weir: .*EADDRNOTAVAIL.*\. Set HOST to an address or a host name of this machine$/m);
  });

  test('prints that the embedded ClickHouse does not start', async () => {
    mkdirSync(join(dataDir, 'clickhouse'));
    writeFileSync(join(dataDir, 'clickhouse', 'data'), 'where a folder should be');
    const run = await runProgram('main.js', [], { PORT: '0', WEIR_DATA_DIR: dataDir });
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^weir: the embedded ClickHouse does not start: /m);
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });
});
