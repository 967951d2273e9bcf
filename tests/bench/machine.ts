import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** What the figures were measured on. */
export function machineText(): string {
  const [cpu] = cpus();
  const memoryGib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} x ${cpu?.model.trim() ?? 'unknown CPU'}, ${memoryGib} GiB, ${type()} ${release()}, Node ${process.version}`;
}

/** Others' work on the same cores is the first thing that bends a figure. */
export function loadText(): string {
  const [one = 0, five = 0] = loadavg();
  return `load average ${one.toFixed(1)} (1 min), ${five.toFixed(1)} (5 min)`;
}
