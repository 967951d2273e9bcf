import { writeSync } from 'node:fs';

/** Errors after which a log line is dropped: the disk is full or broken, or the reader of the pipe has ended. */
const LOST = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EPIPE', 'ECONNRESET']);
const RETRY_PAUSE_MS = 5;
const RETRY_MS_MAX = 1_000;

export interface LogDestination {
  /**
   * Writes one line, which ends in a newline. If the disk is full or broken, or if the pipe is closed or stays full for a second, it drops the line
   * and does not throw. While the pipe stays full, it drops further lines at once.
   */
  write(line: string): void;
}

/**
 * Writes log lines to a file descriptor, synchronously. pino's own destination ends the process on a full disk (an `error` event)
 * or waits forever (`flushSync` retries ENOSPC). Here the lines are dropped. When writing works again, a further line contains their number.
 */
export function createLogDestination(fd: number, write: typeof writeSync = writeSync): LogDestination {
  let dropped = 0;
  /** The pipe was full for RETRY_MS_MAX, and has accepted no complete line since. Its reader may be stuck, so no line waits for it. */
  let isStuck = false;

  function writeWhole(text: string): boolean {
    const giveUpAt = performance.now() + RETRY_MS_MAX;
    for (let rest: Buffer = Buffer.from(text); rest.length > 0; ) {
      try {
        rest = rest.subarray(write(fd, rest));
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        if (LOST.has(code)) return false;
        // EAGAIN means that the reader of a pipe is slow.
        if (code !== 'EAGAIN') throw error;
        if (isStuck) return false;
        if (performance.now() > giveUpAt) {
          isStuck = true;
          return false;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_PAUSE_MS);
      }
    }
    return true;
  }

  return {
    write(line) {
      if (dropped > 0) {
        // The notice begins with a newline, because a part of the line that failed may have been written.
        const notice = {
          level: 40,
          time: new Date().toISOString(),
          dropped,
          msg: 'log lines were dropped: the log could not be written',
        };
        if (!writeWhole(`\n${JSON.stringify(notice)}\n`)) {
          dropped++;
          return;
        }
        dropped = 0;
      }
      if (writeWhole(line)) isStuck = false;
      else dropped++;
    },
  };
}
