import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { say } from './exactly-once.ts';
import { EMBEDDED_FAULTS } from './suite/embedded-faults.ts';
import { shownAnswers } from './suite/faults-page.ts';
import { closeShared } from './suite/shared-subjects.ts';

/** `npm run faults` repeats each fault 20 times. Here each fault of the table happens once, so that all of them take a few minutes. */
const ROUNDS = 1;
const FAULT_WITHIN_MS = 240_000;

const seed = Number(process.env.WEIR_FAULT_SEED ?? Date.now() % 1_000_000);
afterAll(closeShared);
beforeAll(() => say(`fault table: WEIR_FAULT_SEED=${seed}`));

/** A fault is in the table when `npm run faults` has seen that Weir survives it. */
const table = readFileSync(join(PROJECT_ROOT, 'docs/faults.md'), 'utf8');
const faults = EMBEDDED_FAULTS.filter(({ name }) => table.includes(`| \`${name}\` |`));

for (const fault of faults) {
  const { name, about } = fault;
  const problem = fault.problem();
  const isMissing = problem !== undefined && process.env.CI !== 'true';
  const survives = isMissing ? test.skip : test;
  survives(
    `${name}: ${about}${problem === undefined ? '' : ` (${problem})`}`,
    async () => {
      if (problem !== undefined) throw new Error(problem);
      const { findings, acknowledged, recoveryMs, saw } = await fault.run({ rounds: ROUNDS, seed, short: true });
      expect(findings).toEqual([]);
      const recovered = Math.round(Math.max(...recoveryMs));
      say(`${name}: ${acknowledged} acknowledged, recovered in ${recovered} ms; ${shownAnswers(saw)}`);
    },
    FAULT_WITHIN_MS,
  );
}
