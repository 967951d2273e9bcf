import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 250;
const PAGE_BYTES = 4096;

export interface ReturnMemoryOptions {
  /** The memory above which the process returns what it does not use. */
  readonly memoryBytes: number;
  /** Returns the memory that ClickHouse has freed, but keeps for later, to the operating system. */
  readonly purge: () => Promise<void>;
  /** Reads the anonymous memory of this process, in bytes. */
  readonly used?: () => number;
}

/**
 * The allocator of ClickHouse keeps freed memory for seconds, and does not count it as used. After several large statements, the process could have
 * twice the memory that its statements may use. So this function looks at the memory of the process four times per second.
 */
export function returnFreedMemory({ memoryBytes, purge, used = anonymousBytes }: ReturnMemoryOptions): NodeJS.Timeout {
  let underWay = false;
  return setInterval(() => {
    if (underWay || used() <= memoryBytes) return;
    underWay = true;
    purge()
      .catch((error: unknown) => process.stderr.write(`cannot return freed memory: ${String(error)}\n`))
      .finally(() => {
        underWay = false;
      });
  }, LOOK_EVERY_MS);
}

/** The resident memory without pages of files. Without /proc, the resident memory. */
function anonymousBytes(): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync('/proc/self/statm', 'utf8').split(' ').map(Number);
    return (resident - shared) * PAGE_BYTES;
  } catch {
    return process.memoryUsage.rss();
  }
}
