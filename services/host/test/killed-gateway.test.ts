import cluster from 'node:cluster';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { createGatewayProcesses, type GatewayProcessesDeps } from '../src/gateways/gateway-processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-killed-gateway-'));
afterAll(() => rmSync(folder, { recursive: true }));

const openGateways = (entry: string, logger: object) =>
  createGatewayProcesses({
    entry,
    logger,
    config: { gatewayProcesses: 1, host: '127.0.0.1', port: 0 },
    metrics: createMetrics(),
    publicDir: folder,
    disk: undefined,
    eventLog: {},
    stateStore: {},
    rateLimiter: {},
  } as unknown as GatewayProcessesDeps);

test('a gateway process that is killed at its start is reported with its signal, and started again', async () => {
  const entry = join(folder, 'killed.mjs');
  writeFileSync(entry, "process.kill(process.pid, 'SIGKILL');");
  const reported: object[] = [];
  const logger = { info: () => undefined, error: (fields: object) => void reported.push(fields) };
  const gateways = openGateways(entry, logger);
  // This promise does not resolve, because no process accepts connections.
  void gateways.start(join(folder, 'socket'));
  try {
    await eventually('reports of two processes', () => reported.length >= 2, 20_000);
  } finally {
    await gateways.close();
  }
  for (const fields of reported) expect(fields).toMatchObject({ pid: expect.any(Number), signal: 'SIGKILL' });
});

test('a process that the system could not create does not make the later close fail', async () => {
  const logger = { info: () => undefined, error: () => undefined };
  // The system cannot create a process in a folder that does not exist. A limit of processes (EAGAIN) has the same effect.
  cluster.setupPrimary({ cwd: join(folder, 'missing') });
  try {
    const gateways = openGateways(join(folder, 'unused.mjs'), logger);
    await expect(gateways.start(join(folder, 'socket'))).rejects.toThrow('ENOENT');
    await gateways.close();
  } finally {
    cluster.setupPrimary({ cwd: folder });
  }
});
