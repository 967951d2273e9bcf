import { join } from 'node:path';
import { CLOSED_AFTER_DAYS } from '@weir/control/visit-slots/built-run';
import { SITE_ROWS_MIN } from '@weir/control/visit-slots/days-to-build';
import { type Compared, compareAnswers } from '../late/compare-answers.ts';
import { LATE_PERIODS, type LateRequest, lateRequests } from '../late/late-requests.ts';
import { createLateTraffic, LATE_HOURS_MAX, type LateTraffic, PAGES_MAX, TRAFFIC_DAYS } from '../late/late-traffic.ts';
import { type LateWeir, type Stored, startLateWeir } from '../late/late-weir.ts';
import { percentile } from '../load/http-load.ts';
import { untilQuiet } from '../report/quiet-machine.ts';
import { ratios, showNumber, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario, Table, Target } from './scenario.ts';

const ROWS_DEFAULT = 1_000_000;
const SEED = 1;
const DAY_MS = 24 * 3600_000;
const RATIO_MAX = 2;
const DIFFERENCES_SHOWN = 5;

export const late: Scenario = {
  name: 'late',
  about: `reports on page views of which 5 % arrive up to ${LATE_HOURS_MAX} h late, compared with reports on the same page views in order`,
  rounds: 5,
  onlyByName: 'it imports the page views twice, which takes some minutes',
  run,
};

/** The times of a report in milliseconds, one for each counted round. `first` has both times of the first round, which is not counted. */
interface Timed extends LateRequest {
  readonly ordered: number[];
  readonly late: number[];
  readonly first: number[];
}

/** The comparison and the times of the reports in one state of the tables, with or without slots. */
interface State {
  readonly name: string;
  readonly reports: readonly Timed[];
  readonly compared: Compared;
  readonly quiet: string;
}

async function run(bench: Bench): Promise<Findings> {
  const { programs, rows, folder, note } = bench;
  const endMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const traffic = createLateTraffic({ rows: rows?.[0] ?? ROWS_DEFAULT, seed: SEED, endMs });
  note(`${traffic.rows} lines, ${traffic.late} of them late`);
  const logs = programs.newFolder();
  const dataDir = (name: string): string =>
    folder === undefined
      ? programs.newFolder()
      : join(folder, `late-${new Date(endMs).toISOString().slice(0, 10)}-${traffic.rows}-${name}`);

  const weirs: LateWeir[] = [];
  const start = async (
    name: string,
    write: (file: string) => void,
  ): Promise<LateWeir & { readonly stored: Stored }> => {
    const weir = await startLateWeir(programs, dataDir(name));
    weirs.push(weir);
    const file = join(logs, `${name}.log`);
    write(file);
    const stored = await weir.fill(file, traffic.rows);
    note(`${name}: all rows are stored after ${showNumber(stored.storedSeconds)} s`);
    return { ...weir, stored };
  };
  try {
    const ordered = await start('ordered', traffic.writeOrdered);
    const late = await start('late', traffic.writeLate);
    const pair = [ordered, late] as const;
    const visits = compareAnswers(await ordered.visits(), await late.visits(), 'visits');
    const generated = await compareGenerated(pair, traffic);
    const states = [await measure(bench, pair, traffic)];
    const days = traffic.pageviews < SITE_ROWS_MIN ? 0 : TRAFFIC_DAYS - CLOSED_AFTER_DAYS + 1;
    if ((await ordered.builtDays()) < days) {
      await Promise.all(pair.map((weir) => weir.restart(days)));
      states.push(await measure(bench, pair, traffic));
    }
    return findingsOf(
      traffic,
      pair.map(({ stored }) => stored),
      [visits, generated],
      states,
    );
  } finally {
    await Promise.all(weirs.map((weir) => weir.stop()));
  }
}

/** Requests each report from both Weirs in turn, and compares the answers of the first round. */
async function measure(
  { rounds, reports: only, quietSeconds, note }: Bench,
  [ordered, disordered]: readonly [LateWeir, LateWeir],
  { endMs }: LateTraffic,
): Promise<State> {
  const built = [await ordered.builtDays(), await disordered.builtDays()] as const;
  if (built[0] !== built[1])
    throw new Error(`the two Weirs have slots of different numbers of days: ${built.join(' and ')}`);
  const name = built[0] === 0 ? 'without slots' : `with slots of ${built[0]} days`;
  const quiet = await untilQuiet(quietSeconds);
  note(quiet);
  const reports = lateRequests(endMs, only).map((request): Timed => ({ ...request, ordered: [], late: [], first: [] }));
  let values = 0;
  const differences: string[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const [nth, report] of reports.entries()) {
      const { path } = report;
      const isSwapped = (round + nth) % 2 === 1;
      const second = isSwapped ? await disordered.ask(path) : undefined;
      const one = await ordered.ask(path);
      const other = second ?? (await disordered.ask(path));
      if (round > 0) {
        report.ordered.push(one.ms);
        report.late.push(other.ms);
        continue;
      }
      report.first.push(one.ms, other.ms);
      const compared = compareAnswers(one.data, other.data, path);
      values += compared.values;
      differences.push(...compared.differences);
    }
    note(`${name}, round ${round}: ${differences.length} of ${values} values differ`);
  }
  for (const text of differences.slice(0, DIFFERENCES_SHOWN)) note(`different: ${text}`);
  return { name, reports, compared: { values, differences }, quiet };
}

/** Compares the numbers of both Weirs with those of the generator. */
async function compareGenerated(
  weirs: readonly LateWeir[],
  { pageviews, visits, endMs }: LateTraffic,
): Promise<Compared> {
  const from = new Date(endMs - TRAFFIC_DAYS * DAY_MS).toISOString();
  const path = `stats?from=${from}&to=${new Date(endMs).toISOString()}`;
  const found = await Promise.all(
    weirs.map(async (weir) => {
      const { totals } = (await weir.ask(path)).data as { readonly totals: Readonly<Record<string, unknown>> };
      return { pageviews: totals.pageviews, visits: totals.visits };
    }),
  );
  return compareAnswers(
    found.map(() => ({ pageviews, visits })),
    found,
    'generated',
  );
}

const median = (figures: readonly number[]): number => spreadOf(figures).median;
const p95 = (figures: readonly number[]): number => percentile(Float64Array.from(figures).sort(), 0.95);
const ratioOf = ({ ordered, late }: Timed): number => ratios(late, ordered).median;
const firstRatio = ({ first: [ordered = Number.NaN, late = Number.NaN] }: Timed): number => late / ordered;

function findingsOf(
  traffic: LateTraffic,
  stored: readonly Stored[],
  others: readonly Compared[],
  states: readonly State[],
): Findings {
  const size = `${showNumber(traffic.rows, 0)} rows`;
  const all = [...others, ...states.map(({ compared }) => compared)];
  const differing = all.flatMap(({ differences }) => differences);
  const values = all.reduce((sum, one) => sum + one.values, 0);
  return {
    tables: [
      {
        head: [
          `input, ${size}`,
          'seconds of `weir import`',
          'seconds until SQL finds all rows',
          'rows that moved a session',
          'rows whose visits are computed',
        ],
        rows: stored.map((one, nth) => [
          nth === 0 ? 'in order' : `${showNumber(traffic.late, 0)} rows late`,
          showNumber(one.importSeconds),
          showNumber(one.storedSeconds),
          showNumber(one.moving, 0),
          showNumber(one.computed, 0),
        ]),
      },
      ...states.flatMap((state) => [summaryTable(state), detailTable(state)]),
    ],
    targets: [
      {
        what: `${size}: values that differ`,
        wanted: '0',
        found: `${showNumber(differing.length, 0)} of ${showNumber(values, 0)}`,
        met: differing.length === 0,
      },
      ...states.map((state) => ratioTarget(size, state)),
    ],
    notes: [
      `Two Weirs, each with all roles in one process and an empty data folder, import an access log with \`weir import\`. Both logs have the same lines. In the first log, the lines are in the order of their times. In the second log, 5 % of the lines (a random choice) are late, each by a random time of up to ${LATE_HOURS_MAX} h. A late line keeps its time, but its place in the log is that of the later time. The visitors are cookieless, so Weir computes visitors and visits. Weir reads both logs as fast as it can, so no state expires between a visit and its late rows.`,
      `The traffic has ${showNumber(traffic.visits, 0)} visits of people, each with 1 to ${PAGES_MAX} page views. It ends at the last midnight UTC, ${TRAFFIC_DAYS} days after its start. No visit continues over midnight UTC: such a cookieless visit can become two visits if its rows come in another order (decision 12).`,
      `All values of the answers of the first round are compared. The visits of each day in \`sessions\` are compared too: their number, sums, and a hash of their columns without IDs. The totals of both Weirs are compared with those of the generator. ${differing.length === 0 ? 'There are no differences.' : `The first differences: ${differing.slice(0, DIFFERENCES_SHOWN).join('; ')}.`}`,
      'The times are those of requests to the admin API, one at a time. Both Weirs run at the same time. Each report is requested from both in turn, and the order alternates. In each round, the time of the late hits is divided by that of the hits in order. The ratio of a report is the median of its rounds. The first round is not counted. It has its own columns.',
      ...states.map(({ name, quiet }) => `Before the reports ${name}, ${quiet}.`),
    ],
  };
}

function ratioTarget(size: string, { name, reports }: State): Target {
  const slowest = reports.reduce((one, other) => (ratioOf(other) > ratioOf(one) ? other : one));
  return {
    what: `${size}, ${name}: the largest ratio of a report's times`,
    wanted: `<= ${RATIO_MAX}`,
    found: `${showNumber(ratioOf(slowest), 2)} (${slowest.report}, ${slowest.period})`,
    met: ratioOf(slowest) <= RATIO_MAX,
  };
}

function summaryTable({ name, reports }: State): Table {
  const show = (figures: readonly number[]): string =>
    `${showNumber(median(figures), 0)} / ${showNumber(p95(figures), 0)}`;
  return {
    head: [
      `all reports below, ${name}`,
      'in order: p50 / p95 ms',
      'late: p50 / p95 ms',
      'ratio: p50',
      'p95',
      'largest',
      'first round: p50',
      'largest',
    ],
    rows: LATE_PERIODS.map((period) => {
      const own = reports.filter((report) => report.period === period);
      const found = own.map(ratioOf);
      const first = own.map(firstRatio);
      return [
        period,
        show(own.flatMap(({ ordered }) => ordered)),
        show(own.flatMap(({ late }) => late)),
        ...[median(found), p95(found), Math.max(...found), median(first), Math.max(...first)].map((one) =>
          showNumber(one, 2),
        ),
      ];
    }),
  };
}

function detailTable({ name, reports }: State): Table {
  return {
    head: [`${name}: p50 ms in order / late, ratio`, ...LATE_PERIODS],
    rows: [...new Set(reports.map(({ report }) => report))].map((report) => [
      report,
      ...LATE_PERIODS.map((period) => {
        const one = reports.find((candidate) => candidate.report === report && candidate.period === period);
        if (one === undefined) return '';
        return `${showNumber(median(one.ordered), 0)} / ${showNumber(median(one.late), 0)}, ${showNumber(ratioOf(one), 2)}`;
      }),
    ]),
  };
}
