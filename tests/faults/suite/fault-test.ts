import { say } from '../exactly-once.ts';
import { shownAnswers } from './faults-page.ts';
import type { Runnable } from './runnable.ts';

const ROUNDS = 1;
const CLIENTS = 4;
const FAULT_WITHIN_MS = 240_000;

/**
 * Declares a test in which the fault happens once, with a short duration. In `npm run faults`, each fault happens several times, with longer
 * durations. If the fault cannot happen on this machine, the test is skipped, or fails if CI=true.
 */
export function testFault(fault: Runnable, seed: number): void {
  const { name, about } = fault;
  const problem = fault.problem();
  const isMissing = problem !== undefined && process.env.CI !== 'true';
  const survives = isMissing ? test.skip : test;
  survives(
    `${name}: ${about}${problem === undefined ? '' : ` (${problem})`}`,
    async () => {
      if (problem !== undefined) throw new Error(problem);
      const { findings, acknowledged, recoveryMs, saw } = await fault.run({
        rounds: ROUNDS,
        seed,
        clients: CLIENTS,
        short: true,
      });
      expect(findings).toEqual([]);
      const recovered = Math.round(Math.max(...recoveryMs));
      say(`${name}: ${acknowledged} acknowledged, recovered in ${recovered} ms; ${shownAnswers(saw)}`);
    },
    FAULT_WITHIN_MS,
  );
}
