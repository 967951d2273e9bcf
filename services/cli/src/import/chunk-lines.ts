import { type AccessLogHit, type AccessLogOptions, readAccessLogLine } from '@weir/domain/access-log/access-log';
import { ACCESS_LOG_SKIPS, type AccessLogSkip } from '@weir/domain/access-log/access-log-skip';

/** The body of one call that imports a chunk of an access log, without its field `lease`. */
export interface LineChunk {
  readonly first_line: number;
  readonly last_line: number;
  readonly hits: readonly WireHit[];
}

interface WireHit {
  readonly line: number;
  readonly timestamp: number;
  readonly ip: string;
  readonly user_agent: string | undefined;
  readonly url: string;
  readonly referrer: string;
}

export interface LineCounts {
  readonly skipped: Record<AccessLogSkip, number>;
  bad: number;
}

export function newLineCounts(): LineCounts {
  const skipped = Object.fromEntries(ACCESS_LOG_SKIPS.map((reason) => [reason, 0]));
  return { skipped: skipped as LineCounts['skipped'], bad: 0 };
}

const CHUNK_HITS_MAX = 1000;
const CHUNK_LINES_MAX = 5000;
const CHUNK_TEXT_CHARS_MAX = 1024 * 1024;

/**
 * Groups the lines after line `from` up to line `to` into chunks. Adds skipped and bad lines to `counts`. `to` is the number of lines that the file
 * had when its digest was computed. Lines that were added later do not belong to this import.
 */
export async function* chunkLines(
  runs: AsyncIterable<readonly string[]>,
  { from, to }: { readonly from: number; readonly to: number },
  options: AccessLogOptions,
  counts: LineCounts,
  onBadLine: (line: number, reason: string) => void,
): AsyncGenerator<LineChunk> {
  let line = 0;
  let first = from + 1;
  let chars = 0;
  let hits: WireHit[] = [];
  for await (const run of runs) {
    for (const text of run.slice(0, to - line)) {
      line += 1;
      if (line <= from) continue;
      const outcome = readAccessLogLine(text, options);
      if (outcome.kind === 'hit') {
        hits.push(wireHit(line, outcome.hit));
        chars += text.length;
      } else if (outcome.kind === 'skip') counts.skipped[outcome.reason] += 1;
      else {
        counts.bad += 1;
        onBadLine(line, outcome.reason);
      }
      if (hits.length < CHUNK_HITS_MAX && line - first + 1 < CHUNK_LINES_MAX && chars < CHUNK_TEXT_CHARS_MAX) continue;
      yield { first_line: first, last_line: line, hits };
      first = line + 1;
      chars = 0;
      hits = [];
    }
    if (line === to) break;
  }
  if (line >= first) yield { first_line: first, last_line: line, hits };
}

function wireHit(line: number, { timestamp, ip, userAgent, url, referrer }: AccessLogHit): WireHit {
  return { line, timestamp, ip, user_agent: userAgent, url, referrer };
}
