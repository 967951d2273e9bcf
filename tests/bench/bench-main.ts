import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { type BenchOptions, readOptions, usage } from './bench-options.ts';
import { buildPrograms } from './build-programs.ts';
import { loadText, machineText } from './report/machine.ts';
import { untilQuiet } from './report/quiet-machine.ts';
import { topFunctions } from './report/top-functions.ts';
import { plainText, type Result, renewedPage } from './report/write-report.ts';
import { SCENARIOS } from './scenarios/scenarios.ts';

const EXIT_USAGE = 2;
const PAGE = join(PROJECT_ROOT, 'docs/benchmarks.md');

async function main(options: BenchOptions): Promise<void> {
  const profileDir = options.profileDir === undefined ? undefined : resolve(options.profileDir);
  if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });
  const programs = await buildPrograms(profileDir);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      programs.close();
      process.exit(1);
    });
  }
  const results: Result[] = [];
  try {
    for (const scenario of options.scenarios) {
      const missing = scenario.missing?.();
      if (missing !== undefined) {
        console.log(`${scenario.name} cannot run here:\n${missing}`);
        continue;
      }
      console.error(`bench: ${scenario.name}`);
      const quiet = await untilQuiet(options.quietSeconds);
      console.error(`bench: ${scenario.name}: ${quiet}`);
      const before = loadText();
      const findings = await scenario.run({
        programs,
        rounds: options.rounds ?? scenario.rounds,
        records: options.records,
        rows: options.rows,
        reports: options.reports,
        folder: options.folder === undefined ? undefined : resolve(options.folder),
        quietSeconds: options.quietSeconds,
        note: (text) => console.error(`bench: ${scenario.name}: ${text}`),
      });
      const result = {
        scenario,
        findings,
        load: `${quiet}. Load average before the run: ${before}; after the run: ${loadText()}`,
      };
      results.push(result);
      console.log(plainText(result));
    }
  } finally {
    programs.close();
  }
  console.log(`\n${machineText()}`);
  if (profileDir !== undefined) console.log(topFunctions(profileDir));
  if (options.write && results.length > 0) {
    const date = new Date().toISOString().slice(0, 10);
    const old = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
    writeFileSync(PAGE, renewedPage(old, results, machineText(), date));
    console.log(`written: ${PAGE}`);
  }
}

function options(): BenchOptions {
  try {
    return readOptions(process.argv.slice(2), SCENARIOS);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n\n${usage(SCENARIOS)}`);
    return process.exit(EXIT_USAGE);
  }
}

const chosen = options();
if (chosen.help) console.log(usage(SCENARIOS));
else await main(chosen);
