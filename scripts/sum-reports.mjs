// Usage: node scripts/sum-reports.mjs REPORT.json … Reads reports of Jest. Prints the messages of the failed tests, the suites that took
// longest, the names of the skipped and the failed tests, and one line with the counts. The exit code is 1 if a test failed or was skipped, or if a
// report is missing or has no passed test. Run the tests with CI=true, which installs everything that they need, so that none is skipped.
import { existsSync, readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const LINES_OF_EACH = 14;
const LONGEST = 20;

const files = process.argv.slice(2);
// A run that was ended by its time limit has no report.
const missing = files.filter((file) => !existsSync(file));
for (const file of missing) console.log(`failed: there is no report ${file}`);
const reports = files.filter((file) => existsSync(file)).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const sum = (...names) => reports.flatMap((report) => names.map((name) => report[name])).reduce((a, b) => a + b, 0);

const suites = reports.flatMap(({ testResults }) => testResults);
const fileOf = ({ name }) => name.slice(process.cwd().length + 1);

for (const suite of suites) {
  const { message } = suite;
  if (message === '') continue;
  console.log(`failed: ${fileOf(suite)}`);
  // Jest prints a bullet before each failed test, and before failures outside of tests.
  for (const failure of stripVTControlCharacters(message).split(/^(?= *● )/m)) {
    console.log(failure.split('\n').slice(0, LINES_OF_EACH).join('\n').trimEnd());
  }
}

const secondsOf = ({ startTime, endTime }) => Math.round((endTime - startTime) / 1000);
for (const suite of suites.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, LONGEST)) {
  console.log(`longest: ${secondsOf(suite)} s: ${fileOf(suite)}`);
}

// Each name has a line at the end, for a reader who sees only the last lines.
const skipped = sum('numPendingTests', 'numTodoTests');
for (const suite of suites) {
  for (const { fullName, status } of suite.assertionResults) {
    if (status === 'pending' || status === 'todo') console.log(`skipped: ${fullName}`);
    if (status === 'failed') console.log(`failed: ${fileOf(suite)}: ${fullName}`);
  }
}

const failed = missing.length + sum('numFailedTests', 'numRuntimeErrorTestSuites');
console.log(`${sum('numPassedTests')} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 || skipped > 0 || reports.some(({ numPassedTests }) => numPassedTests === 0) ? 1 : 0);
