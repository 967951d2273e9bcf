import { say } from './exactly-once.ts';
import { EMBEDDED_FAULTS } from './suite/embedded-faults.ts';
import { shownAnswers } from './suite/faults-page.ts';

/** `npm run faults` repeats each fault 20 times. Here each fault happens once, so that all of them take a few minutes. */
const ROUNDS = 1;
const FAULT_WITHIN_MS = 240_000;

const seed = Number(process.env.WEIR_FAULT_SEED ?? Date.now() % 1_000_000);
beforeAll(() => say(`fault table: WEIR_FAULT_SEED=${seed}`));

for (const fault of EMBEDDED_FAULTS) {
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
