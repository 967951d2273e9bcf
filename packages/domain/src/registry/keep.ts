/**
 * For how long the tables keep rows: `400d`, `2y` (a year has 365 days) or `forever`.
 * - `events`: rows of `events`, payments, dead letters, and records that were dropped or are duplicates
 * - `profiles`: the profile of a user, counted from the last time at which the user or one of its visitors was seen
 * - `rollups`: sessions, which are sums of events
 */
export type Keep = Readonly<Record<KeepKind, string>>;
export type KeepKind = 'events' | 'profiles' | 'rollups';

export const KEEP_KINDS: readonly KeepKind[] = ['events', 'profiles', 'rollups'];
export const KEEP_PATTERN = '^(forever|[1-9][0-9]{0,4}d|[1-9][0-9]?y)$';
export const KEEP_FOREVER: Keep = { events: 'forever', profiles: 'forever', rollups: 'forever' };

const DAY_MS = 86_400_000;
const DAYS_OF = { d: 1, y: 365 } as const;

/** The number of days of a time such as `400d` or `2y`. Undefined if the rows are kept forever. */
function keepDays(text: string): number | undefined {
  if (!new RegExp(KEEP_PATTERN).test(text)) throw new RangeError(`not a time to keep rows: ${text}`);
  if (text === 'forever') return undefined;
  return Number(text.slice(0, -1)) * DAYS_OF[text.at(-1) as keyof typeof DAYS_OF];
}

/** The times that apply to a site. A time that the site does not set itself is taken from `otherwise`, the setting for all sites. */
export function keepOf(
  site: { readonly siteId?: string; readonly keep?: Partial<Keep> } | undefined,
  otherwise: Keep,
): Keep {
  return { ...otherwise, ...site?.keep };
}

/**
 * Returns why these times cannot be combined; undefined if they can. If events were kept longer than sessions, a replay would compute
 * removed sessions again.
 */
export function keepProblem({ events, rollups }: Keep): string | undefined {
  const longest = Number.POSITIVE_INFINITY;
  if ((keepDays(rollups) ?? longest) >= (keepDays(events) ?? longest)) return undefined;
  return `rollups (${rollups}) must be kept at least as long as events (${events})`;
}

/**
 * The beginning of the first UTC day (Unix milliseconds) whose rows are kept: all rows from before it have expired. Undefined
 * if no row expires.
 */
export function expiresBefore(text: string, now: number): number | undefined {
  const days = keepDays(text);
  if (days === undefined) return undefined;
  return Math.max(0, Math.floor(now / DAY_MS) - days) * DAY_MS;
}
