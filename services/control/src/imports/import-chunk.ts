/** Consecutive lines of a log file, with their pageviews in order. */
export interface ImportChunk {
  readonly lease: string;
  readonly first_line: number;
  readonly last_line: number;
  readonly hits: readonly ImportHit[];
}

export interface ImportHit {
  readonly line: number;
  /** The time of the pageview in Unix milliseconds. */
  readonly timestamp: number;
  readonly ip: string;
  readonly user_agent: string;
  readonly url: string;
  readonly referrer: string;
}

/** Checks a rule that JSON Schema cannot express: line numbers must increase within the chunk. */
export function chunkProblem(chunk: ImportChunk): string | undefined {
  if (chunk.last_line < chunk.first_line) return 'last_line must be at least first_line';
  let previous = chunk.first_line - 1;
  for (const { line } of chunk.hits) {
    if (line <= previous || line > chunk.last_line) return 'line must rise within first_line and last_line';
    previous = line;
  }
  return undefined;
}
