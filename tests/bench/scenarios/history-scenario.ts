import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { FillTask } from '../programs/fill-tables.ts';
import type { HistoryFigure, HistoryFigures, HistoryTask } from '../programs/measure-history.ts';
import { intervalOf, showInterval, showNumber, spreadOf } from '../report/spread.ts';
import { TRAFFIC_END, TRAFFIC_SEED } from '../reports/report-traffic.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const ROWS_DEFAULT = 10_000_000;
const PERIODS = ['24h', '7d', '30d'];
const REPORTS = ['stats', 'page', 'entry', 'source', 'country', 'event', 'property:plan'];
/** The short history is this part of the long one. It contains the longest period, but only a part of the earlier period of a comparison. */
const PART = 0.1;
const RATIO_MAX = 1.2;

export const history: Scenario = {
  name: 'history',
  about: 'times of the same reports on a site with a long history, and on a site with only the last tenth of it',
  rounds: 10,
  onlyByName: 'it fills all tables first, which takes minutes (one million rows) to an hour',
  run,
};

async function run({ programs, rounds, rows, reports, folder, quietSeconds, note }: Bench): Promise<Findings> {
  const wanted = rows?.[0] ?? ROWS_DEFAULT;
  const parent = folder ?? programs.newFolder();
  const fixed = {
    endMs: Date.parse(TRAFFIC_END),
    clickhouseEntry: programs.path('clickhouse-server'),
    migrationsDir: join(PROJECT_ROOT, 'schemas/clickhouse'),
  };
  const filled = async (name: string, part: number): Promise<string> => {
    const own = join(parent, `history-${name}-${wanted}`);
    mkdirSync(own, { recursive: true });
    const mark = join(own, 'filled.json');
    if (existsSync(mark)) return own;
    const task: FillTask = { ...fixed, folder: own, rows: wanted, seed: TRAFFIC_SEED, part };
    writeFileSync(mark, JSON.stringify(await programs.measure<number>('fill-tables', task)));
    return own;
  };
  // The scenario `reports` fills the same rows. If it has kept its tables in this folder, they are used.
  const ofReports = join(parent, `reports-${wanted}`);
  note(`${wanted} rows, and the last ${PART * 100} % of them`);
  const task: HistoryTask = {
    ...{ ...fixed, rounds, quietSeconds, periods: PERIODS, only: reports ?? REPORTS },
    folders: [
      await filled('short', PART),
      existsSync(join(ofReports, 'filled.json')) ? ofReports : await filled('long', 1),
    ],
  };
  const found = await programs.measure<HistoryFigures>('measure-history', task);
  const ratioOf = ({ shortMs, longMs }: HistoryFigure) =>
    intervalOf(longMs.map((ms, round) => ms / (shortMs[round] ?? Number.NaN)));
  const highest = Math.max(...found.reports.map((one) => ratioOf(one).mean));
  return {
    tables: [
      {
        head: ['report', 'period', 'short history, median ms', 'long history, median ms', 'ratio (95 % interval)'],
        rows: found.reports.map((one) => [
          one.variant === 'no filter' ? one.report : `${one.report}, ${one.variant}`,
          one.period,
          showNumber(spreadOf(one.shortMs).median, 0),
          showNumber(spreadOf(one.longMs).median, 0),
          showInterval(ratioOf(one)),
        ]),
      },
    ],
    targets: [
      {
        what: 'the highest ratio of a report',
        wanted: `<= ${RATIO_MAX}`,
        found: showNumber(highest, 2),
        met: highest <= RATIO_MAX,
      },
    ],
    notes: [
      `Both sites have the traffic of the scenario reports until ${TRAFFIC_END}: the long history is a year with about ${showNumber(wanted, 0)} rows, and the short history is its last ${PART * 100} %. The short history does not contain all of the earlier period of a comparison of 30 days, so these comparisons are left out. Each site has its own embedded ClickHouse, and each report runs on both sites in turn. In each round, the time with the long history is divided by that with the short history. The ratio is the geometric mean of all rounds.`,
      `Before the reports, ${found.quiet}.`,
    ],
  };
}
