import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 250;
/** The pause after a call of `purge` that did not reduce the memory of the process: the running statements need all of it. */
const REST_MS = 1_000;
/** The process is idle if its memory has not changed by more than `CHANGE_BYTES` for this many looks (10 s). */
const IDLE_LOOKS = 40;
const CHANGE_BYTES = 8 * 1024 * 1024;

export interface ReturnMemoryOptions {
  /** The memory above which the process returns what it does not use. */
  readonly memoryBytes: number;
  /** Returns the memory that ClickHouse has freed, but keeps for later, to the operating system. */
  readonly purge: () => Promise<void>;
  /** Reads the anonymous memory of this process, in bytes. */
  readonly used?: () => number;
}

/**
 * The allocator of ClickHouse keeps freed memory for seconds, and does not count it as used. After several large statements, the process could
 * have twice the memory that its statements may use. So this function checks the memory of the process four times per second, and calls
 * `purge` if it is above `memoryBytes`.
 */
export function returnFreedMemory({ memoryBytes, purge, used = anonymousBytes }: ReturnMemoryOptions): NodeJS.Timeout {
  let underWay = false;
  let restsUntil = 0;
  let steadyBytes = 0;
  let steadyLooks = 0;
  return setInterval(() => {
    const before = used();
    steadyLooks += 1;
    if (Math.abs(before - steadyBytes) > CHANGE_BYTES) {
      steadyBytes = before;
      steadyLooks = 0;
    }
    const isAbove = before > memoryBytes && performance.now() >= restsUntil;
    if (underWay || !(isAbove || steadyLooks === IDLE_LOOKS)) return;
    underWay = true;
    purge()
      .catch((error: unknown) => process.stderr.write(`cannot return freed memory: ${String(error)}\n`))
      .finally(() => {
        underWay = false;
        steadyBytes = used();
        if (steadyBytes >= before) restsUntil = performance.now() + REST_MS;
      });
  }, LOOK_EVERY_MS);
}

/** The resident memory without pages of files. On a system without this figure, the resident memory. */
function anonymousBytes(): number {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  const kilobytes = /^RssAnon:\s*(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1024;
}
