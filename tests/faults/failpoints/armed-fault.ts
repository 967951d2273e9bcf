import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';
import { DependencyError, type DependencyErrorCode } from '@weir/domain/errors';
import type { FaultPoint } from '@weir/testkit/fault-points';
import type { AppendFault } from '@weir/testkit/faulty-event-log';
import type { FaultOrder } from './fault-order.ts';

// Only the bundle for the fault tests (build-failpoints.mjs) contains this module. Production builds do not.

const FILE = process.env.WEIR_FAULT_FILE ?? '';
const CODES: Readonly<Record<string, DependencyErrorCode>> = {
  insertRecords: 'analytics_unavailable',
  highestRawOffset: 'analytics_unavailable',
  append: 'event_log_unavailable',
  commit: 'event_log_unavailable',
};

let order: FaultOrder | undefined;
let hits = 0;

/**
 * Passes the order on from the main thread to the pipeline thread, because only the main thread receives signals. Each thread counts its own
 * calls.
 */
const orders = new BroadcastChannel('weir fault orders');
orders.unref();

/** The test writes a `FaultOrder` into FILE and sends SIGUSR2. From then on, each thread counts the calls of the ordered point. */
if (isMainThread) {
  process.on('SIGUSR2', () => {
    take(JSON.parse(readFileSync(FILE, 'utf8')) as FaultOrder);
    orders.postMessage(order);
  });
} else {
  orders.onmessage = ({ data }) => take(data as FaultOrder);
}

function take(next: FaultOrder): void {
  order = next;
  hits = 0;
}

/**
 * Returns the order if its fault must happen at this call. When a fault with another action than `kill` happens for the last time, this writes a
 * file for which the test waits.
 */
function isDue(name: string, about: string): FaultOrder | undefined {
  if (order === undefined || order.point !== name || !new RegExp(order.about).test(about)) return undefined;
  const due = order;
  hits += 1;
  if (hits < due.nth) return undefined;
  if (hits >= due.nth + due.times - 1) {
    order = undefined;
    if (due.action !== 'kill') writeFileSync(`${FILE}.done`, '');
  }
  return due;
}

export const armedPoint: FaultPoint = (name, about) => {
  const due = isDue(name, about);
  switch (due?.action) {
    case 'kill':
      return killSelf();
    case 'memory':
      return useAllMemory();
    case 'fail':
      throw new DependencyError(CODES[name.replace(':done', '')] ?? 'state_store_unavailable', 'a fault of the tests');
    case 'late':
      return pause(due.lateMs);
    default:
      return undefined;
  }
};

/**
 * The wrapped event log calls this for each append. Returns how the outcome of the append must be changed; `none` if it must not. Counts the
 * append as a call of the point `outcome`.
 */
export function armedOutcome(topic: string): AppendFault {
  return isDue('outcome', topic)?.outcome ?? 'none';
}

function killSelf(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal can arrive a moment later. Until then, this thread must not continue.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function useAllMemory(): never {
  const kept: number[][] = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, n) => n + Math.random()));
}
