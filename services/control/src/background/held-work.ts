import type { Erasure } from '@weir/ports/registry';

/** Thrown if another process has taken over the erasure or expiry. */
export class Taken extends Error {
  override readonly name = 'Taken';
}

export const REPORT_EVERY_MS = 10_000;
/** A process that has not reported for this long counts as ended. */
export const WORKER_LOST_MS = 30_000;
/** If the time of a report is further in the future than this, the clock was ahead when the report was written. Such a report does not count. */
const CLOCK_AHEAD_MS_MAX = 3_600_000;

/** Whether this process may work on an erasure or expiry: no other living process works on it. `alone` is true if there is only one process. */
export function isFree(
  worker: Erasure['worker'],
  { workerId, alone, clock }: { readonly workerId: string; readonly alone: boolean; readonly clock: () => number },
): boolean {
  if (worker === undefined || worker.id === workerId || alone) return true;
  const age = clock() - worker.at;
  return age > WORKER_LOST_MS || age < -CLOCK_AHEAD_MS_MAX;
}
