import { totalmem } from 'node:os';

/**
 * The memory that ClickHouse leaves free by default, for the main process. In a simulated run of 48 hours with 1 GB (docs/faults.md), this process
 * needed up to 586 MB. The rest is for the process of ClickHouse, which can need more than the limit of its statements.
 */
const LEFT_FREE_BYTES = 672 * 1024 * 1024;
/** With a limit of 256 MB, ClickHouse refused the inserts of the writer for minutes while SQL statements of users needed memory. */
const MEMORY_BYTES_MIN = 352 * 1024 * 1024;

/** The memory that ClickHouse may use by default, on this machine or in this container. */
export function memoryByDefault(): number {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.max(MEMORY_BYTES_MIN, memory - LEFT_FREE_BYTES);
}
