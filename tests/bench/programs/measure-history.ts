import { untilQuiet } from '../report/quiet-machine.ts';
import { createReportAsker, type ReportAsker } from '../reports/ask-report.ts';
import { openTables, type TablesTask } from '../reports/open-tables.ts';
import { type ReportRequest, reportRequests } from '../reports/report-requests.ts';

export interface HistoryTask extends Omit<TablesTask, 'folder'> {
  /** Two filled folders. The traffic in the first folder is the last part of the traffic in the second folder. */
  readonly folders: readonly [short: string, long: string];
  readonly rounds: number;
  readonly only: readonly string[] | undefined;
  /** The longest period is the last one. */
  readonly periods: readonly string[];
  /** The maximum time to wait until the load of the machine is low. */
  readonly quietSeconds: number;
  readonly endMs: number;
}

export interface HistoryFigures {
  readonly quiet: string;
  readonly reports: readonly HistoryFigure[];
}

/** The times of a report in milliseconds, for each round with the short and with the long history. */
export interface HistoryFigure extends ReportRequest {
  readonly shortMs: readonly number[];
  readonly longMs: readonly number[];
}

const note = (text: string): void => console.error(`bench: history: ${text}`);

interface Opened {
  readonly asker: ReportAsker;
  close(): Promise<void>;
}

async function open(folder: string, task: HistoryTask): Promise<Opened> {
  const { analytics, close } = await openTables({ ...task, folder });
  return { asker: createReportAsker(analytics), close };
}

/** Requests each report on both histories in turn, so that a slow phase of the machine affects both. The first round is not counted. */
async function main(task: HistoryTask): Promise<HistoryFigures> {
  const [short, long] = [await open(task.folders[0], task), await open(task.folders[1], task)];
  const quiet = await untilQuiet(task.quietSeconds);
  note(quiet);
  let asked = 0;
  const timeOf = async ({ asker }: Opened, request: ReportRequest): Promise<number> => {
    asked += 1;
    const startedAt = performance.now();
    await asker.ask(request, task.endMs + asked * 1_000);
    return performance.now() - startedAt;
  };
  const reports: HistoryFigure[] = [];
  for (const request of reportRequests(task.only).filter((one) => isInShort(one, task))) {
    const figure = { ...request, shortMs: [] as number[], longMs: [] as number[] };
    for (let round = 0; round <= task.rounds; round++) {
      const [shortMs, longMs] = [await timeOf(short, request), await timeOf(long, request)];
      if (round === 0) continue;
      figure.shortMs.push(shortMs);
      figure.longMs.push(longMs);
    }
    reports.push(figure);
    note(
      `${request.variant}, ${request.report} ${request.period}: ${middle(figure.shortMs)} and ${middle(figure.longMs)} ms`,
    );
  }
  await short.close();
  await long.close();
  return { quiet, reports };
}

/** Leaves out comparisons of the longest period, because the short history does not contain all of their earlier period. */
function isInShort({ period, query }: ReportRequest, { periods }: HistoryTask): boolean {
  return periods.includes(period) && !(period === periods.at(-1) && query.includes('compare='));
}

const middle = (ms: readonly number[]): string => ([...ms].sort((a, b) => a - b)[ms.length >> 1] ?? 0).toFixed(0);

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as HistoryTask)));
