import { Counter, Gauge } from 'prom-client';
import { createGatewayTotals } from '../src/metrics/gateway-totals.ts';
import { createMetrics, joinMetrics, readMetrics } from '../src/prometheus-metrics.ts';

/** The metrics of a process: one counter and one gauge. */
function createProcess() {
  const metrics = createMetrics();
  const registers = [metrics];
  const served = new Counter({ name: 'served_total', help: 'Served.', labelNames: ['status'], registers });
  const waiting = new Gauge({ name: 'waiting', help: 'Waiting.', registers });
  let answers = true;
  return {
    serve: (status: number) => served.inc({ status }),
    wait: (requests: number) => waiting.set(requests),
    hang: () => {
      answers = false;
    },
    // Copies the values, as messages between processes do.
    read: async () => (answers ? structuredClone(await readMetrics(metrics)) : undefined),
  };
}

const open = () => createGatewayTotals(createMetrics(), () => 0);
const textOf = async (totals: ReturnType<typeof open>) => joinMetrics([await totals.read()]);

test('the values of all processes are added', async () => {
  const totals = open();
  for (const count of [1, 2]) {
    const one = createProcess();
    totals.add(one.read);
    for (let n = 0; n < count; n++) one.serve(202);
    one.serve(429);
    one.wait(count);
  }
  const text = await textOf(totals);
  expect(text).toMatch(/^served_total\{status="202"\} 3$/m);
  expect(text).toMatch(/^served_total\{status="429"\} 2$/m);
  expect(text).toMatch(/^waiting 3$/m);
});

test('the counters of processes that have ended stay, their gauges do not', async () => {
  const totals = open();
  const [first, second, third] = [createProcess(), createProcess(), createProcess()];
  const ends = [first, second].map((one) => totals.add(one.read));
  totals.add(third.read);
  for (const one of [first, second, third]) {
    one.serve(202);
    one.wait(5);
  }
  await totals.read();
  for (const { end } of ends) end();
  const text = await textOf(totals);
  expect(text).toMatch(/^served_total\{status="202"\} 3$/m);
  expect(text).toMatch(/^waiting 5$/m);
});

test('while a process does not answer, its last counters count', async () => {
  const totals = open();
  const one = createProcess();
  totals.add(one.read);
  one.serve(202);
  await totals.read();
  one.serve(202);
  one.hang();
  expect(await textOf(totals)).toMatch(/^served_total\{status="202"\} 1$/m);
});

test('a process that ends while it is asked is counted once', async () => {
  const totals = open();
  const one = createProcess();
  const source = totals.add(one.read);
  one.serve(202);
  await totals.read();
  const reading = totals.read();
  source.end();
  expect(await joinMetrics([await reading])).toMatch(/^served_total\{status="202"\} 1$/m);
});

test('the number of processes and of restarts', async () => {
  const metrics = createMetrics();
  const totals = createGatewayTotals(metrics, () => 2);
  totals.restarted();
  const text = await metrics.metrics();
  expect(text).toMatch(/^weir_gateway_processes 2$/m);
  expect(text).toMatch(/^weir_gateway_process_restarts_total 1$/m);
});
