import { formatTime } from '../format-time.ts';
import type { Checked } from '../http/compile-body.ts';
import { readCount, readParameters } from '../http/query-parameters.ts';
import { readRecentTime } from '../http/recent-time.ts';

export const RECORDS_PARAMETERS = ['site', 'since', 'after', 'limit', 'wait'] as const;
export const SITE_PATTERN = '^[A-Za-z0-9_-]{1,64}$';
export const RECORDS_MAX = 1000;
const RECORDS_DEFAULT = 100;
/**
 * The longest time that a call may wait for records. It is shorter than the usual time limit of proxies, and than the drain timeout after SIGTERM.
 */
export const WAIT_SECONDS_MAX = 10;

export interface RecordsQuery {
  /**
   * The site whose records are returned; if undefined, records of all sites. The log keeps the records of removed sites, so the site need not exist.
   */
  readonly siteId: string | undefined;
  /** A time in Unix milliseconds. */
  readonly sinceMs: number | undefined;
  readonly after: string | undefined;
  readonly limit: number;
  readonly waitSeconds: number;
}

export function readRecordsQuery(url: string, nowMs: number): Checked<RecordsQuery> {
  const read = readParameters(url, RECORDS_PARAMETERS);
  if ('problem' in read) return read;
  const { site, since, after, ...counts } = Object.fromEntries(read.value);
  if (site !== undefined && !new RegExp(SITE_PATTERN).test(site)) return { problem: `site must match ${SITE_PATTERN}` };
  if (since !== undefined && after !== undefined) return { problem: 'since must not be sent together with after' };
  const sinceMs = since === undefined ? { value: undefined } : readRecentTime('since', since, nowMs);
  if ('problem' in sinceMs) return sinceMs;
  if (sinceMs.value !== undefined && sinceMs.value > nowMs)
    return { problem: `since is in the future: the time of the server is ${formatTime(nowMs)}` };
  const limit = readCount('limit', counts.limit, { max: RECORDS_MAX, otherwise: RECORDS_DEFAULT });
  if ('problem' in limit) return limit;
  const wait = readCount('wait', counts.wait, { min: 0, max: WAIT_SECONDS_MAX, otherwise: 0 });
  if ('problem' in wait) return wait;
  return { value: { siteId: site, sinceMs: sinceMs.value, after, limit: limit.value, waitSeconds: wait.value } };
}
