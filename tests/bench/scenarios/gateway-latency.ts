import type { Server } from '../load/bench-servers.ts';
import { percentile } from '../load/http-load.ts';
import { EVENTS_WITH_KEY } from '../load/load-requests.ts';
import { startOpenLoad } from '../load/open-load.ts';
import { showSpread, spreadOf } from '../report/spread.ts';
import type { Findings } from './scenario.ts';

const PER_SECOND = 1_000;
const WINDOW_SECONDS = 4;
const P50_MS_MAX = 2;
const P99_MS_MAX = 8;

/** Measures the latency of the gateway's answers at a fixed rate, in `rounds` time windows. One more window before them is discarded. */
export async function gatewayLatency({ port, key }: Server, rounds: number): Promise<Findings> {
  const kind = EVENTS_WITH_KEY;
  const load = startOpenLoad({ port, perSecond: PER_SECOND, status: kind.status, make: kind.make(key) });
  const p50: number[] = [];
  const p99: number[] = [];
  for (let window = -1; window < rounds; window++) {
    await new Promise((resolve) => setTimeout(resolve, WINDOW_SECONDS * 1000));
    const latencies = load.takeLatencies();
    if (window < 0) continue;
    p50.push(percentile(latencies, 0.5));
    p99.push(percentile(latencies, 0.99));
  }
  await load.stop();
  const target = (name: string, figures: readonly number[], max: number) => ({
    what: `${kind.name}: ${name} at ${PER_SECOND.toLocaleString('en-US')} requests/s`,
    wanted: `<= ${max} ms`,
    found: `${showSpread(spreadOf(figures))} ms`,
    met: spreadOf(figures).median <= max,
  });
  return {
    tables: [
      {
        head: ['latency', 'p50 ms', 'p99 ms'],
        rows: [
          [
            `${kind.name}, ${PER_SECOND.toLocaleString('en-US')} requests/s`,
            showSpread(spreadOf(p50)),
            showSpread(spreadOf(p99)),
          ],
        ],
      },
    ],
    targets: [target('p50', p50, P50_MS_MAX), target('p99', p99, P99_MS_MAX)],
    notes: [
      `Latency: ${PER_SECOND.toLocaleString('en-US')} requests per second, open loop: a latency counts from the planned time of a request to its answer, so it includes the delay of the client, whose timer has a resolution of 1 ms. ${rounds} windows of ${WINDOW_SECONDS} s.`,
    ],
  };
}
