import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { refreshPause } from '../../../packages/dashboard/src/api/refresh-pause.ts';
import { type FilledWeir, startFilledWeir } from '../load/filled-weir.ts';
import { percentile } from '../load/http-load.ts';
import { pageviewsOf } from '../load/load-requests.ts';
import { startOpenLoad } from '../load/open-load.ts';
import { probeVisibility } from '../load/visibility-probe.ts';
import { untilQuiet } from '../report/quiet-machine.ts';
import { atMost, showNumber } from '../report/spread.ts';
import { TRAFFIC_SITE } from '../reports/report-traffic.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const DASHBOARDS = 20;
const PER_SECOND = 1_000;
const MINUTES_PER_ROUND = 1;
/** The dashboards are opened one after the other within this time. */
const OPENING_MS = 60_000;
/** The time until each dashboard has repeated each report. The longest pause between two requests is 6 minutes (`refreshPause`). */
const WARM_UP_MS = 360_000;
const PROBE_EVERY_MS = 500;
/** Each poll is a statement that takes CPU time from the reports, so polls are rare. A measured time can be too long by up to this value. */
const POLL_MS = 100;
const REPORT_MS_MAX = 1_000;
const VISIBLE_MS_MAX = 2_000;

export const dashboards: Scenario = {
  name: 'dashboards',
  about: `time of the reports of ${DASHBOARDS} open dashboards, and time until pageviews are visible, while ${PER_SECOND} pageviews per second arrive`,
  rounds: 3,
  onlyByName: 'it fills all tables first, which takes minutes (one million rows) to an hour',
  run,
};

/** The reports of the overview page of the dashboard. */
const REPORTS = [
  'stats?compare=previous_period',
  'breakdown?dimension=page&order=visitors:desc&metrics=visitors&limit=9',
  'breakdown?dimension=source&order=visitors:desc&metrics=visitors&limit=9',
  'breakdown?dimension=country&order=visitors:desc&metrics=visitors&limit=300',
  'breakdown?dimension=browser&order=visitors:desc&metrics=visitors&limit=9',
  'breakdown?dimension=event&order=events:desc&metrics=events&limit=9',
  'breakdown?dimension=bot&order=pageviews:desc&metrics=pageviews&limit=9&bots=include',
] as const;
const PERIODS = ['24h', '7d', '30d'] as const;
/** Each dashboard has another combination of period and filter, so that all requests differ. */
const FILTERS = [
  '',
  'country:is:DE',
  'country:is_not:DE',
  'browser:is:Firefox',
  'os:is_not:iOS',
  'page:contains:a',
  'device:is:mobile',
];

interface Figures {
  /** The times of requests in milliseconds, by period. */
  readonly reports: ReadonlyMap<string, number[]>;
  /** Milliseconds from the answer 204 to a pageview until SQL finds its row. */
  readonly visible: number[];
  /** Milliseconds from the planned time of a pageview's request to its answer. */
  readonly answers: Float64Array[];
}

async function run(bench: Bench): Promise<Findings> {
  const { rounds, quietSeconds, note } = bench;
  const weir = await startFilledWeir(bench);
  const closing = new AbortController();
  // Every waiting report of every dashboard adds a listener to this signal. Without this call, Node would warn.
  setMaxListeners(0, closing.signal);
  try {
    const quiet = await untilQuiet(quietSeconds);
    note(quiet);
    const load = startOpenLoad({
      port: weir.port,
      perSecond: PER_SECOND,
      status: 204,
      make: pageviewsOf(TRAFFIC_SITE),
    });
    let figures = newFigures();
    const open = Array.from({ length: DASHBOARDS }, (_, nth) =>
      openDashboard(weir, nth, () => figures, closing.signal),
    );
    const probe = probeVisibility({
      ...{ client: weir.client, siteId: TRAFFIC_SITE, everyMs: PROBE_EVERY_MS, pollMs: POLL_MS },
      list: () => figures.visible,
      stop: closing.signal,
    });
    const clients = Promise.all([...open, probe]);
    // If a client or the load fails, the promise of `measure` rejects immediately.
    const measure = (ms: number): Promise<unknown> => Promise.race([pause(ms), clients, load.failed]);
    await measure(OPENING_MS);
    const opening = all(figures);
    note(`while they are opened: p95 of reports ${showNumber(p95(opening), 0)} ms`);
    await measure(WARM_UP_MS);
    const found: Figures[] = [];
    for (let round = 0; round < rounds; round++) {
      figures = newFigures();
      load.takeLatencies();
      await measure(MINUTES_PER_ROUND * 60_000);
      figures.answers.push(load.takeLatencies());
      found.push(figures);
      note(`round ${round + 1}: p95 of reports ${showNumber(p95(all(figures)), 0)} ms`);
    }
    closing.abort();
    await clients;
    await load.stop();
    return findingsOf(weir.rows, opening, found, quiet);
  } finally {
    closing.abort();
    await weir.stop();
  }
}

const newFigures = (): Figures => ({
  reports: new Map(PERIODS.map((period) => [period, []])),
  visible: [],
  answers: [],
});

/** Requests the reports of a dashboard again and again, like an open page of the dashboard. */
async function openDashboard(weir: FilledWeir, nth: number, figures: () => Figures, stop: AbortSignal): Promise<void> {
  const period = PERIODS[nth % PERIODS.length] ?? '30d';
  const filter = FILTERS[Math.floor(nth / PERIODS.length)] ?? '';
  const more = `&period=${period}${filter === '' ? '' : `&filter=${encodeURIComponent(filter)}`}`;
  await wait((OPENING_MS * nth) / DASHBOARDS, stop);
  await Promise.all(
    REPORTS.map(async (report) => {
      while (!stop.aborted) {
        const own = figures();
        const startedAt = performance.now();
        const answer = await weir.client.admin('GET', `/sites/${TRAFFIC_SITE}/${report}${more}`);
        if (answer.status !== 200) throw new Error(`${report}${more} answered ${answer.status} ${answer.text}`);
        const tookMs = performance.now() - startedAt;
        own.reports.get(period)?.push(tookMs);
        await wait(refreshPause(report + more, { tookMs, isError: false }), stop);
      }
    }),
  );
}

const wait = (ms: number, stop: AbortSignal): Promise<unknown> =>
  pause(ms, undefined, { signal: stop }).catch(() => undefined);

const sorted = (figures: readonly number[]): Float64Array => Float64Array.from(figures).sort();
const p95 = (figures: readonly number[]): number => percentile(sorted(figures), 0.95);
const all = ({ reports }: Figures): readonly number[] => [...reports.values()].flat();

function findingsOf(rows: number, opening: readonly number[], found: readonly Figures[], quiet: string): Findings {
  const size = `${showNumber(rows, 0)} rows`;
  const cell = (figures: readonly number[], high: number): string =>
    `${showNumber(percentile(sorted(figures), 0.5), 0)} / ${showNumber(percentile(sorted(figures), high), 0)}`;
  const ofPeriod = (period: string): readonly number[] => found.flatMap(({ reports }) => reports.get(period) ?? []);
  const reports = found.flatMap(all);
  const visible = found.flatMap((one) => one.visible);
  const answers = found.flatMap((one) => one.answers.flatMap((latencies) => [...latencies]));
  return {
    tables: [
      {
        head: [`${DASHBOARDS} dashboards, ${size}`, 'number', 'ms'],
        rows: [
          ...PERIODS.map((period) => [
            `reports of ${period}: p50 / p95`,
            String(ofPeriod(period).length),
            cell(ofPeriod(period), 0.95),
          ]),
          [
            `reports while the dashboards are opened, within ${OPENING_MS / 1000} s: p50 / p95`,
            String(opening.length),
            cell(opening, 0.95),
          ],
          ['204 until SQL finds the pageview: p50 / p99', String(visible.length), cell(visible, 0.99)],
          ['answers to pageviews: p50 / p99', String(answers.length), cell(answers, 0.99)],
        ],
      },
    ],
    targets: [
      atMost(`${size}: p95 of reports`, p95(reports), REPORT_MS_MAX),
      atMost(`${size}: p99 from 204 until SQL finds the pageview`, percentile(sorted(visible), 0.99), VISIBLE_MS_MAX),
    ],
    notes: [
      `${DASHBOARDS} clients ask the seven reports of the overview page, each with another combination of period and filter, and ask each report again after a pause, as the page does. The pause is 200 times the time of the answer, but at least 15 s and at most 5 minutes. Then up to a fifth of the pause is added, so that the requests come at different times. ${PER_SECOND} pageviews per second of the same site arrive meanwhile (open loop: the latency counts from the planned time). A probe is sent twice a second, and SQL asks for it every ${POLL_MS} ms.`,
      `${found.length} minutes were measured, beginning ${WARM_UP_MS / 60_000} minutes after all dashboards were open, when each report has been repeated at least once. Weir, its ClickHouse and all clients run on the same machine. Before, ${quiet}.`,
    ],
  };
}
