import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { showNumber } from './spread.ts';

/** The load average of the last minute below which a measurement can begin. */
const QUIET_LOAD = 0.5;
const POLL_SECONDS = 5;

/** The functions that read the load and that wait. Tests replace them. */
interface Machine {
  /** The load average of the last minute. */
  load(): number;
  wait(seconds: number): Promise<void>;
}

const THIS_MACHINE: Machine = {
  load: () => loadavg()[0] ?? 0,
  wait: (seconds) => pause(seconds * 1000),
};

/**
 * Waits until the load of the machine is low, because other programs change the figures more than any other influence. Resolves after
 * `secondsMax` at the latest, with a text about the load. After a scenario, the load average takes some minutes to fall, even if nothing else
 * runs.
 */
export async function untilQuiet(secondsMax: number, machine = THIS_MACHINE): Promise<string> {
  let waited = 0;
  while (machine.load() >= QUIET_LOAD && waited < secondsMax) {
    const seconds = Math.min(POLL_SECONDS, secondsMax - waited);
    await machine.wait(seconds);
    waited += seconds;
  }
  const load = machine.load();
  return load < QUIET_LOAD
    ? `the machine was quiet (load ${showNumber(load, 2)}) after a wait of ${waited} s`
    : `the machine was not quiet after a wait of ${waited} s: its load was ${showNumber(load, 2)}, at least ${QUIET_LOAD}`;
}
