import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAccessLog } from '@weir/testkit/access-log';
import { createWeirClient } from '@weir/testkit/weir-client';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { Bench, Findings, Scenario } from './scenario.ts';
import { ADMIN_TOKEN, startWholeWeir } from './servers.ts';
import { ratios, showNumber, showSpread, spreadOf } from './spread.ts';

const REAL_LOG = join(PROJECT_ROOT, '../shared/data/access-combined-10k.log.gz');
const SECONDS_MAX = 5;

export const importLog: Scenario = {
  name: 'import',
  about:
    'seconds that `weir import` of an access log takes, until its rows can be queried, on a Weir that was just started',
  rounds: 5,
  run,
};

async function run({ programs, rounds, note }: Bench): Promise<Findings> {
  const file = existsSync(REAL_LOG) ? REAL_LOG : join(programs.newFolder(), 'access.log');
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
        head: ['command', 'seconds', 'beside the bare command'],
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
        ? 'The file is ../shared/data/access-combined-10k.log.gz.'
        : 'The file is a generated log of the same shape: ../shared is missing.',
      `Wall time of \`node weir.js import FILE --site demo\`, its own start included, ${rounds} times, each against a new Weir in an empty folder. The rows are counted by SQL right after it.`,
    ],
  };
}
