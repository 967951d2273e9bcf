const { default: Sequencer } = require('@jest/test-sequencer');

/** The suites that take longest. If one of them started last, the other workers would have nothing to do while it runs. */
const LONGEST = [
  'tests/faults/fault-table.test.ts',
  'services/control/test/visits/slot-reports.test.ts',
  'services/control/test/replay-archive.test.ts',
  'tests/faults/kill-replay.test.ts',
  'tests/browser/dashboard-states.test.ts',
  'tests/browser/dashboard-pipeline.test.ts',
  'services/control/test/replay-swap.test.ts',
  'services/control/test/replay-raw.test.ts',
  'tests/acceptance/erasure/forget-kill.test.ts',
  'services/control/test/expired-archive.test.ts',
  'tests/faults/kill-restore.test.ts',
  'tests/faults/forget-many.test.ts',
  'tests/upgrades/upgrade-in-place.test.ts',
  'tests/upgrades/release-paths.test.ts',
  'packages/adapters/test/clickhouse/exchange-generations.test.ts',
];

/** Starts the longest suites first. The other suites have the order of Jest. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const index = LONGEST.findIndex((name) => path.endsWith(`/${name}`));
      return index < 0 ? LONGEST.length : index;
    };
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
};
