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

/** Starts Weir while no broker listens on the port `broker`. Resolves when Weir answers requests. */
async function startWithoutKafka(broker: number, roles: readonly string[]) {
  const port = await freePort();
  const env = { PORT: String(port), WEIR_DATA_DIR: dataDir, KAFKA_BROKERS: `127.0.0.1:${broker}` };
  const prefix = { KAFKA_TOPIC_PREFIX: `test-${randomUUID().slice(0, 8)}.` };
  // On a busy machine, Weir can need more than the default of 20 s to end.
  const drain = { WEIR_DRAIN_TIMEOUT_MS: '40000' };
  const started = spawn(process.execPath, [join(PROJECT_ROOT, 'dist/main.js'), ...roles], {
    env: bareEnv({ ...env, ...prefix, ...drain }),
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

describe('a role that starts while Kafka is unavailable', () => {
  test('waits: it is alive, not ready, and answers 503 with Retry-After; SIGTERM ends it with exit code 0', async () => {
    const weir = await startWithoutKafka(await freePort(), ['gateway']);
    expect((await sendHttp(weir.url, { path: '/healthz' })).status).toBe(200);
    const { status, text } = await weir.readiness();
    expect([status, JSON.parse(text)]).toEqual([503, { status: 'not ready', missing: ['event log'] }]);
    for (const path of ['/api/v1/events', '/api/identify', '/api/collect']) {
      const answer = await sendHttp(weir.url, { method: 'POST', path, body: '{}' });
      expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '1']);
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
      const weir = await startWithoutKafka(port, []);
      const [host = '', brokerPort = ''] = brokers().split(':');
      entrance = createServer((socket) => {
        const on = connect(Number(brokerPort), host);
        for (const one of [socket, on]) one.on('error', () => one.destroy());
        socket.pipe(on).pipe(socket);
      }).listen(port, '127.0.0.1');
      await eventually('ready', async () => (await weir.readiness()).status === 200, 150_000);
      const key = /Bearer (wk_\S+?)'/.exec(weir.output())?.[1];
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
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
