import type { AccessLogFormat } from '@weir/domain/access-log/access-log';
import { DETECTION_LINES_MAX, detectAccessLogFormat } from '@weir/domain/access-log/detect-format';
import type { LogFile } from './open-log-file.ts';
import { readLines } from './read-lines.ts';
import { readLogBytes } from './read-log-bytes.ts';

/** Detects the format of an access log from the first lines of the file. Resolves with undefined if no format was detected. */
export async function detectLogFormat(log: LogFile): Promise<AccessLogFormat | undefined> {
  const lines: string[] = [];
  for await (const run of readLines(readLogBytes(log))) {
    lines.push(...run.slice(0, DETECTION_LINES_MAX - lines.length));
    if (lines.length >= DETECTION_LINES_MAX) break;
  }
  return detectAccessLogFormat(lines);
}
