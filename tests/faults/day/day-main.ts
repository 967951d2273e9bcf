import { loadText } from '../../bench/report/machine.ts';
import { writeFaultsPage } from '../suite/write-faults-page.ts';
import { type DayCommand, HOURS, readDayOptions, USAGE } from './day-options.ts';
import { dayNote, dayRows, growthFindings } from './day-report.ts';
import { whyNoDay } from './day-weir.ts';
import { runDay } from './run-day.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

async function main(options: DayCommand): Promise<void> {
  const problem = whyNoDay();
  if (problem !== undefined) throw new Error(`cannot simulate a day here: ${problem}`);
  console.log(`day: ${JSON.stringify(options)}, load average ${loadText()}`);
  const result = await runDay({ ...options, say: (text) => console.log(text) });
  const rows = dayRows(result);
  const isWhole = options.hours >= HOURS && options.fillHours >= HOURS;
  const findings = [...result.findings, ...(isWhole ? growthFindings(result.samples) : [])];
  console.log([...rows.values()].join('\n'));
  for (const [kind, counts] of result.answers) console.log(`${kind}: ${JSON.stringify(Object.fromEntries(counts))}`);
  console.log(`${dayNote(result)}\nload average ${loadText()}`);
  if (findings.length > 0) {
    console.log(`day: FAILED\n${findings.map((text) => `  - ${text}`).join('\n')}`);
    process.exitCode = EXIT_FAILED;
    return;
  }
  console.log('day: survived');
  if (isWhole) writeFaultsPage('day', () => rows, ` ${dayNote(result)}`);
}

function readOptions(): DayCommand {
  try {
    return readDayOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`day: ${(error as Error).message}\n\n${USAGE}`);
    return process.exit(EXIT_USAGE);
  }
}

const options = readOptions();
if (options.help) console.log(USAGE);
else await main(options);
