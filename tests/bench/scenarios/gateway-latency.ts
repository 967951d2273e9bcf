import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from '../load/bench-servers.ts';
import { percentile } from '../load/http-load.ts';
import { EVENTS_WITH_KEY } from '../load/load-requests.ts';
import { startOpenLoad } from '../load/open-load.ts';
import { showNumber, showSpread, spreadOf } from '../report/spread.ts';
import type { Findings } from './scenario.ts';

const KIND = EVENTS_WITH_KEY;
const PER_SECOND = 1_000;
const WINDOW_SECONDS = 4;
const P50_MS_MAX = 2;
const P99_MS_MAX = 8;

/** Milliseconds. Each list has one number for each time window. */
interface Latencies {
  readonly p50: number[];
  readonly p99: number[];
}

/**
 * Measures the latencies of the gateway and then of the bare server at a fixed rate, in `rounds` consecutive time windows for each. One more window
 * before them, in which the connections are opened, is discarded.
 */
export async function gatewayLatency(gateway: Server, bare: Server, rounds: number): Promise<Findings> {
  const own = await measureWindows(gateway, rounds);
  const beside = await measureWindows(bare, rounds);
  const rate = `${showNumber(PER_SECOND, 0)} requests/s`;
  const row = (name: string, { p50, p99 }: Latencies): string[] => [
    `${KIND.name}, ${rate}: ${name}`,
    showSpread(spreadOf(p50), 2),
    showSpread(spreadOf(p99), 2),
  ];
  const target = (name: string, figures: readonly number[], max: number) => ({
    what: `${KIND.name}: ${name} at ${rate}`,
    wanted: `<= ${max} ms`,
    found: `${showSpread(spreadOf(figures), 2)} ms`,
    met: spreadOf(figures).median <= max,
  });
  return {
    tables: [
      { head: ['latency', 'p50 ms', 'p99 ms'], rows: [row('the gateway', own), row('the bare server', beside)] },
    ],
    targets: [target('p50', own.p50, P50_MS_MAX), target('p99', own.p99, P99_MS_MAX)],
    notes: [
      `Latency: ${rate}, open loop: a latency counts from the planned time of a request to its answer, so it includes the delay of the client. The client checks the clock in each turn of its event loop, so that this delay is small, and keeps one core busy. The server has the other cores of this machine. The row of the bare server shows the latency that the client, \`node:http\`, parsing and validation have without the rest of the gateway. ${rounds} consecutive windows of ${WINDOW_SECONDS} s for each server.`,
    ],
  };
}

async function measureWindows({ port, key }: Server, rounds: number): Promise<Latencies> {
  const load = startOpenLoad({
    ...{ port, perSecond: PER_SECOND, status: KIND.status, make: KIND.make(key) },
    precise: true,
  });
  const windows: Latencies = { p50: [], p99: [] };
  for (let window = -1; window < rounds; window++) {
    await Promise.race([pause(WINDOW_SECONDS * 1000), load.failed]);
    const latencies = load.takeLatencies();
    if (window < 0) continue;
    windows.p50.push(percentile(latencies, 0.5));
    windows.p99.push(percentile(latencies, 0.99));
  }
  await load.stop();
  return windows;
}
