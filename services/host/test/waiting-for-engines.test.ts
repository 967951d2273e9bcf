import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { sendHttp } from '@weir/testkit/http-client';
import { describeLive } from '@weir/testkit/live-ports';
import { bareEnv, PROJECT_ROOT } from '@weir/testkit/weir-process';

let dataDir = '';
let child: ChildProcess | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-waiting-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts Weir while no engine listens at the address in `engine`. Resolves when Weir answers requests. */
async function startWithout(engine: Readonly<Record<string, string>>, roles: readonly string[]) {
  const port = await freePort();
  const env = { PORT: String(port), WEIR_DATA_DIR: dataDir, ...engine };
  // On a busy machine, Weir can need more than the default of 20 s to end.
  const drain = { WEIR_DRAIN_TIMEOUT_MS: '40000' };
  const started = spawn(process.execPath, [join(PROJECT_ROOT, 'dist/main.js'), ...roles], {
    env: bareEnv({ ...env, ...drain }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  let output = '';
  for (const stream of [started.stdout, started.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => started.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  const readiness = () => sendHttp(url, { path: '/readyz', timeoutMs: 2_000 });
  await eventually('an answer', () => readiness().then(() => true));
  return { url, readiness, output: () => output, ended, terminate: () => started.kill('SIGTERM') };
}

const withoutKafka = (broker: number, roles: readonly string[]) =>
  startWithout(
    { KAFKA_BROKERS: `127.0.0.1:${broker}`, KAFKA_TOPIC_PREFIX: `test-${randomUUID().slice(0, 8)}.` },
    roles,
  );
const demoKeyIn = (output: string): string | undefined => /Bearer (wk_\S+?)'/.exec(output)?.[1];

describe('a role that starts while Kafka is unavailable', () => {
  test('waits: it is alive, not ready, and answers 503 with Retry-After; SIGTERM ends it with exit code 0', async () => {
    const weir = await withoutKafka(await freePort(), ['gateway']);
    expect((await sendHttp(weir.url, { path: '/healthz' })).status).toBe(200);
    const { status, text } = await weir.readiness();
    expect([status, JSON.parse(text)]).toEqual([503, { status: 'not ready', missing: ['event log'] }]);
    const error = expect.any(String);
    for (const [path, body, origin] of [
      ['/api/v1/events', { status: 'error', error: { code: 503, message: error } }, undefined],
      ['/api/identify', { error }, undefined],
      ['/api/collect', '', '*'],
    ] as const) {
      const answer = await sendHttp(weir.url, { method: 'POST', path, body: '{}' });
      expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '1']);
      expect([answer.json ?? answer.text, answer.headers['access-control-allow-origin']]).toEqual([body, origin]);
    }
    expect(weir.output()).toMatch(/waiting for Kafka/);
    expect(weir.output()).toMatch(/ECONNREFUSED/);
    weir.terminate();
    expect(await weir.ended).toBe(0);
  });

  describeLive('kafka', (brokers) => {
    let entrance: Server | undefined;
    afterEach(() => void entrance?.close());

    test('starts when Kafka is available', async () => {
      const port = await freePort();
      const weir = await withoutKafka(port, []);
      const [host = '', brokerPort = ''] = brokers().split(':');
      entrance = createServer((socket) => {
        const on = connect(Number(brokerPort), host);
        for (const one of [socket, on]) one.on('error', () => one.destroy());
        socket.pipe(on).pipe(socket);
      }).listen(port, '127.0.0.1');
      await eventually('ready', async () => (await weir.readiness()).status === 200, 150_000);
      const headers = { authorization: `Bearer ${demoKeyIn(weir.output())}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ name: 'at last' });
      // The first appends to a broker that has just started can take longer than their time limit. They are then answered with 503.
      const statuses: number[] = [];
      await eventually('an accepted event', async () => {
        const { status } = await sendHttp(weir.url, { method: 'POST', path: '/api/v1/events', headers, body });
        return statuses.push(status) > 0 && status !== 503;
      });
      expect(statuses.at(-1)).toBe(202);
      weir.terminate();
      expect(await weir.ended).toBe(0);
    }, 300_000);
  });
});

describe('a process with all roles that starts while ClickHouse is unavailable', () => {
  test('accepts events, but is not ready, because it cannot do all of its work', async () => {
    const weir = await startWithout({ CLICKHOUSE_URL: `http://127.0.0.1:${await freePort()}` }, []);
    const key = await eventually('the key of the demo site', () => demoKeyIn(weir.output()));
    const event = { path: '/api/v1/events', headers: { authorization: `Bearer ${key}` }, body: { name: 'e' } };
    expect((await sendHttp(weir.url, event)).status).toBe(202);
    const { status, json } = await weir.readiness();
    expect([status, json]).toEqual([503, { status: 'not ready', missing: expect.arrayContaining(['tables']) }]);
    weir.terminate();
    expect(await weir.ended).toBe(0);
  });
});
