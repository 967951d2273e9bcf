/**
 * A reporter for Jest. At the end of a run it prints which suites were skipped, and why. The titles of the suites contain the
 * reason.
 */
module.exports = class PrintSkipped {
  onRunComplete(_, { testResults }) {
    const lines = new Set();
    for (const { testFilePath, testResults: tests, skipped } of testResults) {
      if (skipped && tests.length === 0) continue;
      for (const { status, ancestorTitles, title } of tests) {
        if (status !== 'pending') continue;
        lines.add(`${testFilePath.slice(process.cwd().length + 1)}: ${ancestorTitles[0] ?? title}`);
      }
    }
    if (lines.size > 0) process.stderr.write(`\nSkipped:\n${[...lines].map((line) => `  ${line}\n`).join('')}`);
  }
};
