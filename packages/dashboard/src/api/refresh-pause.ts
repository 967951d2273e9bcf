/** The shortest pause before a query is repeated, if the caller passes no `limits`. */
const PAUSE_MS_MIN = 15_000;
/** The longest pause, before `SPREAD` is added. An open page therefore asks again within 6 minutes, also after slow answers. */
const PAUSE_MS_MAX = 300_000;
/** The longest pause after an error. It is short, because the error may be over soon, for example when ClickHouse has started again. */
const ERROR_PAUSE_MS_MAX = 60_000;
/**
 * The share of the time that one query of an open page may keep the server busy. So a report that takes 0.1 s is repeated every 20 s, and one that
 * takes 0.5 s every 100 s. Seven reports on each of 20 open dashboards then keep less than one core busy.
 */
const BUSY_SHARE_MAX = 1 / 200;
/** The pauses of the queries of a page differ by up to this share, so that they are not repeated at the same moment. */
const SPREAD = 0.2;

/** The last answer to a query. */
export interface LastAnswer {
  /** How long the answer took, in milliseconds. */
  readonly tookMs: number;
  readonly isError: boolean;
}

export interface PauseLimits {
  /** The shortest pause, in milliseconds. */
  readonly min: number;
  /** The longest pause, in milliseconds, also if the answers take long. */
  readonly max: number;
}

/** The pause before an open page repeats a query, in milliseconds. */
export function refreshPause(query: string, { tookMs, isError }: LastAnswer, limits?: PauseLimits): number {
  const longest = isError ? ERROR_PAUSE_MS_MAX : PAUSE_MS_MAX;
  const shortest = limits?.min ?? PAUSE_MS_MIN;
  const pause = Math.max(shortest, Math.min(tookMs / BUSY_SHARE_MAX, longest)) * (1 + SPREAD * shareOf(query));
  return Math.min(pause, limits?.max ?? Number.POSITIVE_INFINITY);
}

/** A number from 0 to less than 1, computed from the text. It is not random, because the pause of a query must not change while the query waits. */
function shareOf(text: string): number {
  let hash = 0;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000;
  return hash / 1_000;
}
