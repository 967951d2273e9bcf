import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { trimMemory } from '@weir/runtime/native/trim-memory';

const LOOK_EVERY_MS = 5_000;
/** A thread is busy if it has used more than this share of the time since the last look, and idle otherwise. */
const BUSY_SHARE = 0.1;
/** Each step is done after this many idle looks in a row. */
const IDLE_LOOKS = 2;
/**
 * Two collections, then a trim. The second collection returns the memory of the semi-spaces: V8 does this only if the thread has allocated little
 * since the last collection, and in the last 5 s. The trim comes last, because V8 frees the buffers of a collection later, in another thread.
 */
const STEPS = 3;

export interface CollectDeps {
  /** Collects all garbage of this thread. Undefined if Node was started without `--expose-gc`: then nothing is collected. */
  readonly collect?: (() => void) | undefined;
  /** Returns freed memory of the C library to the operating system. */
  readonly trim?: () => Promise<void>;
  /** The share of the time, 0 to 1, that this thread was busy since the last call. */
  readonly busyShare?: () => number;
  /** Milliseconds between two looks. */
  readonly lookEveryMs?: number;
}

/**
 * Collects the garbage of this thread twice after its start, and twice after each time with much work, when the thread has been idle for 10 s. V8
 * collects garbage when a thread allocates memory, so after a peak an idle thread would keep the memory of the peak. The C library allocates the
 * buffers of JavaScript and the memory of native code, and also keeps memory that is freed. So `trim` runs 10 s after the second collection.
 */
export function collectWhenIdle(deps: CollectDeps = {}): { close(): void } {
  const {
    collect = globalThis.gc,
    trim = trimMemory,
    busyShare = busyShareOfThread(),
    lookEveryMs = LOOK_EVERY_MS,
  } = deps;
  if (collect === undefined) return { close: () => undefined };
  let due = STEPS;
  let idleLooks = 0;
  const timer = setInterval(() => {
    const busy = busyShare() > BUSY_SHARE;
    idleLooks = busy ? 0 : idleLooks + 1;
    if (busy) due = STEPS;
    if (due === 0 || idleLooks < IDLE_LOOKS) return;
    due -= 1;
    idleLooks = 0;
    if (due > 0) collect();
    else void trim();
  }, lookEveryMs).unref();
  return { close: () => clearInterval(timer) };
}

function busyShareOfThread(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
