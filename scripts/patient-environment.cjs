const { TestEnvironment } = require('jest-environment-node');

/** In CI, a machine with other work has been five times slower than a quiet one. So the time limits that tests state are for a quiet machine. */
const FACTOR = process.env.CI === 'true' ? 3 : 1;

/** Multiplies the time limits of all tests and hooks by {@link FACTOR}. They only end what hangs: no test asserts how long something takes. */
module.exports = class PatientEnvironment extends TestEnvironment {
  handleTestEvent({ name }, { rootDescribeBlock, testTimeout }) {
    if (name === 'run_start') extend(rootDescribeBlock, testTimeout);
  }
};

function extend({ hooks, children }, testTimeout) {
  for (const limited of [...hooks, ...children]) {
    if (limited.type === 'describeBlock') extend(limited, testTimeout);
    else limited.timeout = FACTOR * (limited.timeout || testTimeout);
  }
}
