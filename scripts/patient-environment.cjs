const { TestEnvironment } = require('jest-environment-node');

/** The time limits in the tests are for a quiet machine. In CI, other work on the machine has made tests up to five times slower. */
const FACTOR = process.env.CI === 'true' ? 3 : 1;
/** No limit is raised above this, so that the name of a test that hangs is known before `.ci/run` ends. */
const RAISED_MS_MAX = 900_000;

/** Multiplies the time limits of all tests and hooks by {@link FACTOR}. These limits only end what hangs. */
module.exports = class PatientEnvironment extends TestEnvironment {
  handleTestEvent({ name }, { rootDescribeBlock, testTimeout }) {
    if (name === 'run_start') extend(rootDescribeBlock, testTimeout);
  }
};

function extend({ hooks, children }, testTimeout) {
  for (const limited of [...hooks, ...children]) {
    if (limited.type === 'describeBlock') extend(limited, testTimeout);
    else limited.timeout = raised(limited.timeout || testTimeout);
  }
}

const raised = (limit) => Math.max(limit, Math.min(FACTOR * limit, RAISED_MS_MAX));
