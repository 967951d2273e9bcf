import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATED_LOG_REASON, REAL_LOG_NAME, readAccessLog, realLogFile } from '@weir/testkit/sample-access-log';
import { createWeirClient } from '@weir/testkit/weir-client';
import { ADMIN_TOKEN, startWholeWeir } from '../load/bench-servers.ts';
import { ratios, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const SECONDS_MAX = 5;

export const importLog: Scenario = {
  name: 'import',
  about:
    'seconds from the start of `weir import` until the rows of the access log can be queried, on a newly started Weir',
  rounds: 5,
  run,
};

async function run({ programs, rounds, note }: Bench): Promise<Findings> {
  const file = realLogFile() ?? join(programs.newFolder(), 'access.log');
  const { text, origin } = readAccessLog();
  if (origin === 'generated') writeFileSync(file, text);
  const lines = text.trimEnd().split('\n').length;

  const first: number[] = [];
  const again: number[] = [];
  const help: number[] = [];
  let rows = 0;
  for (let round = 0; round < rounds; round++) {
    const weir = await startWholeWeir(programs);
    const env = { WEIR_URL: weir.url, WEIR_ADMIN_TOKEN: ADMIN_TOKEN };
    const weirCommand = async (...args: string[]): Promise<number> => {
      const startedAt = performance.now();
      await programs.run('weir', args, env);
      return (performance.now() - startedAt) / 1000;
    };
    help.push(await weirCommand('--help'));
    first.push(await weirCommand('import', file, '--site', 'demo', '--json'));
    rows = await createWeirClient([weir.url], ADMIN_TOKEN).number("SELECT count() FROM events WHERE site_id = 'demo'");
    again.push(await weirCommand('import', file, '--site', 'demo', '--json'));
    await weir.stop();
    note(`${showNumber(first.at(-1) ?? 0, 2)} s`);
  }
  const seconds = spreadOf(first);
  const row = (what: string, figures: readonly number[]): string[] => [
    what,
    showSpread(spreadOf(figures), 2),
    showSpread(ratios(figures, help), 1),
  ];
  return {
    tables: [
      {
        head: ['command', 'seconds', 'compared with the bare command'],
        rows: [
          row('weir --help (the bare command)', help),
          row(`weir import, ${lines} lines, ${rows} rows`, first),
          row('weir import of the same file again', again),
        ],
      },
    ],
    targets: [
      {
        what: `weir import of ${lines} lines`,
        wanted: `< ${SECONDS_MAX} s`,
        found: `${showSpread(seconds, 2)} s`,
        met: seconds.median < SECONDS_MAX,
      },
    ],
    notes: [
      origin === 'real'
        ? `The file is ${REAL_LOG_NAME}.`
        : `The file is a generated log of the same shape: ${GENERATED_LOG_REASON}.`,
      `Wall time of \`node weir.js import FILE --site demo\`, its own start included, ${rounds} times, each against a new Weir in an empty folder. The rows are counted by SQL right after it.`,
    ],
  };
}
