import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { generateAccessLog } from '@weir/testkit/sample-access-log';
import { createWeirClient } from '@weir/testkit/weir-client';
import { ADMIN_TOKEN, startWholeWeir } from '../load/bench-servers.ts';
import { percentile } from '../load/http-load.ts';
import { EVENTS } from '../load/load-requests.ts';
import { startOpenLoad } from '../load/open-load.ts';
import { showNumber, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const RECORDS = 200_000;
const PER_SECOND = 500;
const WINDOW_SECONDS = 15;
/** The number of time windows that are measured before each replay, without a replay. */
const QUIET_WINDOWS = 5;
const LATENCY_RATIO_MAX = 1.3;
const LAG_SECONDS_MAX = 2;
/** A little less than half of the generated lines are pageviews. Only pageviews become records, so one record needs about two lines. */
const LINES_PER_RECORD = 2;
const LINES_PER_PART = 100_000;
const MINUTES_MAX = 60;
const POLL_MS = 250;

export const replayLive: Scenario = {
  name: 'replay-live',
  about:
    'latency and lag of live events in one process with every role, with and without a replay from the enriched topic beside them',
  rounds: 5,
  onlyByName: 'it imports the records first, which takes minutes',
  run: (bench) => run(bench, 'enriched'),
};

export const replayLiveRaw: Scenario = {
  name: 'replay-live-raw',
  about:
    'latency and lag of live events in one process with every role, with and without a replay from the raw topic, which enriches every record again',
  rounds: 3,
  onlyByName: 'it imports the records first, and each round enriches all of them, which takes minutes',
  run: (bench) => run(bench, 'raw'),
};

interface Windows {
  readonly p50: number[];
  readonly p99: number[];
  readonly lag: number[];
}

async function run({ programs, rounds, records = RECORDS, note }: Bench, from: 'enriched' | 'raw'): Promise<Findings> {
  const weir = await startWholeWeir(programs);
  const client = createWeirClient([weir.url], ADMIN_TOKEN);
  const file = join(programs.newFolder(), 'access.log');
  const lines = records * LINES_PER_RECORD;
  for (let first = 0; first < lines; first += LINES_PER_PART) {
    appendFileSync(file, generateAccessLog(Math.min(LINES_PER_PART, lines - first), first));
  }
  await programs.run('weir', ['import', file, '--site', 'demo', '--json'], {
    WEIR_URL: weir.url,
    WEIR_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  // The import ends when the log has every record. The enricher and the writer may not have processed all of them yet.
  await client.settled(MINUTES_MAX * 60_000);
  const imported = await client.number('SELECT count() FROM records');
  note(`${imported} records are stored`);

  const load = startOpenLoad({ port: weir.port, perSecond: PER_SECOND, status: 202, make: EVENTS.make(weir.key) });
  const quiet: Windows = { p50: [], p99: [], lag: [] };
  const busy: Windows = { p50: [], p99: [], lag: [] };
  const seconds: number[] = [];
  /** The p50 of each window during a replay, divided by the median p50 of the windows before this replay. */
  const slowdowns: number[] = [];
  let differences = 0;

  /**
   * Measures the load in time windows until `isOver` resolves with true. A last window of less than half the length is discarded, unless it is
   * the only one.
   */
  async function measure(windows: Windows, isOver: () => Promise<boolean>): Promise<Windows> {
    const own: Windows = { p50: [], p99: [], lag: [] };
    let isLast = false;
    while (!isLast) {
      load.takeLatencies();
      const until = performance.now() + WINDOW_SECONDS * 1000;
      let lag = 0;
      while (performance.now() < until && !isLast) {
        lag = Math.max(lag, ...(await client.lags()));
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        isLast = await isOver();
      }
      const latencies = load.takeLatencies();
      if (until - performance.now() > WINDOW_SECONDS * 500 && own.p50.length > 0) break;
      own.p50.push(percentile(latencies, 0.5));
      own.p99.push(percentile(latencies, 0.99));
      own.lag.push(lag / PER_SECOND);
    }
    windows.p50.push(...own.p50);
    windows.p99.push(...own.p99);
    windows.lag.push(...own.lag);
    return own;
  }
  const phase = async (): Promise<unknown> => (await current())?.phase;
  const current = async (): Promise<{ phase: string; refusal: string | null } | undefined> =>
    ((await client.admin('GET', '/replays/current')).json as { data?: { phase: string; refusal: string | null } }).data;

  for (let round = 0; round < rounds; round++) {
    const quietUntil = performance.now() + QUIET_WINDOWS * WINDOW_SECONDS * 1000;
    const without = await measure(quiet, async () => performance.now() > quietUntil);
    const startedAt = performance.now();
    await client.must(201, 'POST', '/replays', { from });
    const beside = await measure(busy, async () => (await phase()) === 'follow');
    const before = spreadOf(without.p50).median;
    slowdowns.push(...beside.p50.map((p50) => p50 / before));
    note(`round ${round + 1}: p50 ${showNumber(before)} and ${showNumber(spreadOf(beside.p50).median)} ms`);
    seconds.push((performance.now() - startedAt) / 1000);
    const diff = await eventually('the diff', async () => {
      const { status, json, text } = await client.admin('GET', '/replays/current/diff');
      if (status !== 200) throw new Error(text);
      return (json as { readonly data: { readonly changes: readonly unknown[] } }).data;
    });
    differences += diff.changes.length;
    if (round === rounds - 1) break;
    await client.must(200, 'DELETE', '/replays/current');
    await eventually('the replay to be dropped', async () => (await phase()) === undefined);
  }
  await client.must(200, 'POST', '/replays/current/swap');
  await eventually(
    'the tables to be exchanged',
    async () => {
      const replay = await current();
      if (replay?.refusal) throw new Error(`the swap was refused: ${replay.refusal}`);
      return replay?.phase === 'swapped';
    },
    MINUTES_MAX * 60_000,
  );
  await load.stop();
  await client.settled(MINUTES_MAX * 60_000);
  const stored = await client.number('SELECT count() FROM records');
  await client.balanced();
  await weir.stop();

  const latency = spreadOf(slowdowns);
  const lag = spreadOf(busy.lag);
  const row = (what: string, { p50, p99, lag: lags }: Windows): string[] => [
    what,
    showSpread(spreadOf(p50)),
    showSpread(spreadOf(p99)),
    showSpread(spreadOf(lags)),
  ];
  const expected = imported + load.answered();
  return {
    tables: [
      {
        head: ['live traffic', 'p50 ms', 'p99 ms', 'highest lag of enricher and writer, s'],
        rows: [row('without a replay', quiet), row('beside a replay', busy)],
      },
      {
        head: ['the replay', 'records/s', 'seconds until it follows', 'values that differ'],
        rows: [
          [
            `${imported} records and the live ones`,
            showSpread(spreadOf(seconds.map((took) => imported / took)), 0),
            showSpread(spreadOf(seconds)),
            String(differences),
          ],
        ],
      },
    ],
    targets: [
      {
        what: 'p50 of live answers beside a replay, compared with none',
        wanted: `<= ${LATENCY_RATIO_MAX} times`,
        found: `${showSpread(latency, 2)} times`,
        met: latency.median <= LATENCY_RATIO_MAX,
      },
      {
        what: 'lag of live records beside a replay',
        wanted: `< ${LAG_SECONDS_MAX} s`,
        found: `${showSpread(lag)} s`,
        met: lag.max < LAG_SECONDS_MAX,
      },
      {
        what: 'records after the swap, live ones included',
        wanted: String(expected),
        found: String(stored),
        met: stored === expected && differences === 0,
      },
    ],
    notes: [
      `${PER_SECOND} server events per second, open loop: the latency counts from the planned time of a request. Number of replays: ${rounds}. Before a replay, ${QUIET_WINDOWS} windows of ${WINDOW_SECONDS} s are measured. During the replay, such windows follow one another, from its request until it follows the live tables. The table shows the median, the lowest and the highest window. The p50 of each window beside a replay is compared with the median of the windows before it. Client, Weir and its ClickHouse share the cores of this machine.`,
      'The lag is the highest number of records that the enricher or the writer had not processed, read four times per second, divided by the rate. The last replay is swapped while the traffic continues, and then every record is counted and the audit is run.',
    ],
  };
}
