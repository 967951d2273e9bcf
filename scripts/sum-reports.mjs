// node scripts/sum-reports.mjs REPORT.json …: what failed or was skipped in these reports of Jest, and one line of counts. Exits with 1
// where anything failed, was skipped though CI=true installs all that tests need, or a report has no test that passed.
import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const LINES_OF_EACH = 14;

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const sum = (...names) => reports.flatMap((report) => names.map((name) => report[name])).reduce((a, b) => a + b, 0);

for (const { name, message } of reports.flatMap(({ testResults }) => testResults)) {
  if (message === '') continue;
  console.log(`failed: ${name.slice(process.cwd().length + 1)}`);
  // A bullet for each failed test, and for failures outside of tests.
  for (const failure of stripVTControlCharacters(message).split(/^(?= *● )/m)) {
    console.log(failure.split('\n').slice(0, LINES_OF_EACH).join('\n').trimEnd());
  }
}

const skipped = sum('numPendingTests', 'numTodoTests');
for (const { fullName, status } of reports.flatMap((report) =>
  report.testResults.flatMap((file) => file.assertionResults),
)) {
  if (status === 'pending' || status === 'todo') console.log(`skipped: ${fullName}`);
}

const failed = sum('numFailedTests', 'numRuntimeErrorTestSuites');
console.log(`${sum('numPassedTests')} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 || skipped > 0 || reports.some(({ numPassedTests }) => numPassedTests === 0) ? 1 : 0);
