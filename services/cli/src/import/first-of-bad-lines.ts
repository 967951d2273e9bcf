import { type AccessLogOptions, readAccessLogLine } from '@weir/domain/access-log/access-log';
import type { LogFile } from './open-log-file.ts';
import { readLines } from './read-lines.ts';
import { readLogBytes } from './read-log-bytes.ts';

/**
 * Returns the number of the first bad line and why it is bad, if no line of the file can be read. Undefined if a line can be read. Blank lines are
 * ignored, but a file that has only blank lines counts as readable.
 */
export async function firstOfBadLines(
  log: LogFile,
  options: AccessLogOptions,
  interrupted: AbortSignal,
): Promise<string | undefined> {
  let first: string | undefined;
  let number = 0;
  for await (const lines of readLines(readLogBytes(log, interrupted))) {
    for (const line of lines) {
      number += 1;
      const outcome = readAccessLogLine(line, options);
      if (outcome.kind === 'bad') first ??= `line ${number}: ${outcome.reason}`;
      else if (outcome.kind === 'hit' || outcome.reason !== 'blank') return undefined;
    }
  }
  return first;
}
