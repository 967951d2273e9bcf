import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { FillTask } from '../programs/fill-tables.ts';
import type { HistoryFigure, HistoryFigures, HistoryTask } from '../programs/measure-history.ts';
import { intervalOf, showInterval, showNumber, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const ROWS_DEFAULT = 10_000_000;
const SEED = 1;
const END = '2026-10-31T12:00:00Z';
const PERIODS = ['24h', '7d', '30d'];
const REPORTS = ['stats', 'page', 'entry', 'source', 'country', 'event', 'property:plan'];
/** The short history is this part of the long one. It is longer than the longest period, but does not have all of the period before it. */
const PART = 0.1;
const RATIO_MAX = 1.2;

export const history: Scenario = {
  name: 'history',
  about: 'time of the same report with ten times the history before its period',
  rounds: 10,
  onlyByName: 'it fills all tables first, which takes minutes (one million rows) to an hour',
  run,
};

async function run({ programs, rounds, rows, reports, folder, quietSeconds, note }: Bench): Promise<Findings> {
  const wanted = rows?.[0] ?? ROWS_DEFAULT;
  const parent = folder ?? programs.newFolder();
  const fixed = {
    endMs: Date.parse(END),
    clickhouseEntry: programs.path('clickhouse-server'),
    migrationsDir: join(PROJECT_ROOT, 'schemas/clickhouse'),
  };
  const filled = async (name: string, part: number): Promise<string> => {
    const own = join(parent, `history-${name}-${wanted}`);
    mkdirSync(own, { recursive: true });
    const mark = join(own, 'filled.json');
    if (existsSync(mark)) return own;
    const task: FillTask = { ...fixed, folder: own, rows: wanted, seed: SEED, part };
    writeFileSync(mark, JSON.stringify(await programs.measure<number>('fill-tables', task)));
    return own;
  };
  // The scenario `reports` fills the same rows, and can have left its tables there.
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
      `Both sites have the traffic of the scenario reports until ${END}: the long history a year with about ${showNumber(wanted, 0)} rows, the short one its last ${PART * 100} %. It does not have the earlier period of a comparison of 30 days, so this report is left out. The reports alternate between the two, each in an embedded ClickHouse of its own. A ratio is that of two reports of the same round.`,
      `Before the reports, ${found.quiet}.`,
    ],
  };
}
