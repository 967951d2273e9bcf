import { cpus, loadavg, release, totalmem, type } from 'node:os';

export function machineText(): string {
  const [cpu] = cpus();
  const memoryGib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} x ${cpu?.model.trim() ?? 'unknown CPU'}, ${memoryGib} GiB, ${type()} ${release()}, Node ${process.version}`;
}

/** The load averages of the machine. Other programs on the same cores change the figures more than any other influence. */
export function loadText(): string {
  const [one = 0, five = 0] = loadavg();
  return `${one.toFixed(1)} (1 min), ${five.toFixed(1)} (5 min)`;
}

/**
 * The time in milliseconds that all cores together were busy since the machine started, with any process. The difference of two values, divided by
 * the time between them, is the number of busy cores.
 */
export function busyCoreMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
}
