import { setTimeout as pause } from 'node:timers/promises';
import type { WeirClient } from '@weir/testkit/weir-client';
import type { Server } from '../load/bench-servers.ts';
import { percentile } from '../load/http-load.ts';
import { COLLECT } from '../load/load-requests.ts';
import { startOpenLoad } from '../load/open-load.ts';
import { probeVisibility } from '../load/visibility-probe.ts';
import { showNumber } from '../report/spread.ts';
import type { Findings } from './scenario.ts';

const PER_SECOND = 1_000;
const PROBE_EVERY_MS = 500;
const POLL_MS = 5;
const WARM_UP_SECONDS = 5;
const WINDOW_SECONDS = 40;
const P50_SECONDS_MAX = 0.3;
const P99_SECONDS_MAX = 0.8;

interface VisibleLatency extends Findings {
  /** The number of pageviews that were sent, including those of the probe. */
  readonly accepted: number;
}

/**
 * Measures the time from the answer to a pageview until SQL finds it, while other pageviews arrive at a fixed rate. The measurement takes
 * `windows` times 40 s.
 */
export async function visibleLatency(
  { port, key }: Server,
  client: WeirClient,
  siteId: string,
  windows: number,
): Promise<VisibleLatency> {
  const load = startOpenLoad({ port, perSecond: PER_SECOND, status: COLLECT.status, make: COLLECT.make(key) });
  const closing = new AbortController();
  let visible: number[] = [];
  const probe = probeVisibility({
    ...{ client, siteId, everyMs: PROBE_EVERY_MS, pollMs: POLL_MS },
    list: () => visible,
    stop: closing.signal,
  });
  const measure = (seconds: number): Promise<unknown> => Promise.race([pause(seconds * 1000), probe, load.failed]);
  await measure(WARM_UP_SECONDS);
  visible = [];
  load.takeLatencies();
  await measure(windows * WINDOW_SECONDS);
  closing.abort();
  const probes = await probe;
  await load.stop();

  const answers = load.takeLatencies();
  const times = Float64Array.from(visible, (ms) => ms / 1000).sort();
  const cell = (sorted: Float64Array, digits: number): string =>
    [0.5, 0.99, 1].map((share) => showNumber(percentile(sorted, share), digits)).join(' / ');
  const rate = `${showNumber(PER_SECOND, 0)} requests/s`;
  const target = (name: string, share: number, max: number) => {
    const found = percentile(times, share);
    return {
      what: `${COLLECT.name}: ${name} from 204 until SQL finds the pageview, at ${rate}`,
      wanted: `<= ${max} s`,
      found: `${showNumber(found, 2)} s`,
      met: found <= max,
    };
  };
  return {
    accepted: load.answered() + probes,
    tables: [
      {
        head: [`${COLLECT.name}, ${rate}`, 'number', 'p50 / p99 / maximum'],
        rows: [
          ['204 until SQL finds the pageview', showNumber(times.length, 0), `${cell(times, 2)} s`],
          ['answers', showNumber(answers.length, 0), `${cell(answers, 1)} ms`],
        ],
      },
    ],
    targets: [target('p50', 0.5, P50_SECONDS_MAX), target('p99', 0.99, P99_SECONDS_MAX)],
    notes: [
      `At ${rate} (open loop), a probe is sent every ${PROBE_EVERY_MS} ms for ${windows * WINDOW_SECONDS} s. SQL, sent through the admin API, asks for each probe again ${POLL_MS} ms after each answer of SQL. The CPU time of these queries comes from the same cores. The latency of the answers counts from the planned time of a request, and the timer of this client can add about 1 ms.`,
    ],
  };
}
