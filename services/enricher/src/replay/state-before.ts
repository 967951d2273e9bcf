import { userLinkKey, visitorSessionsKey } from '@weir/domain/records/state-keys';
import type { Analytics } from '@weir/ports/analytics';
import { sessionsText } from '../session/visitor-sessions.ts';
import { LINK_TTL_MS } from '../steps/link-visitor.ts';
import { SESSION_TTL_MS } from '../steps/put-session.ts';
import { type SessionRows, sessionsOfRows } from './sessions-of-rows.ts';

/**
 * A key of the enricher's state with its value. A replay processes old records, so `expiresAt` is compared with the times at which the
 * records were appended, and not with the clock.
 */
export interface StateValue {
  readonly key: string;
  readonly value: string;
  readonly expiresAt: number;
}

/** The state of a raw partition before a raw offset (offset in `events.raw`), in parts of about `KEYS_PER_PART` keys. */
export interface StateBefore {
  readonly parts: number;
  read(nth: number, parts: number): Promise<readonly StateValue[]>;
}

interface SessionRow {
  readonly site_id: string;
  readonly visitor_id: string;
  readonly session_id: string;
  readonly start: number | string;
  readonly last: number | string;
  readonly newest: number | string;
  readonly seen: number | string;
}

interface LinkRow {
  readonly site_id: string;
  readonly user_id: string;
  readonly linked: string;
  readonly seen: number | string;
}

const KEYS_PER_PART = 10_000;
/**
 * The maximum age of the rows that are read. It is longer than the lifetime of a session's state, because later hits prolong this lifetime: the
 * first hits of a session can be older.
 */
const SESSION_ROWS_MS = 2 * SESSION_TTL_MS;
/**
 * The time of a raw offset is the newest time of receipt among this many rows before it. One row is not enough: rows of an imported dump keep their
 * original time of receipt, which can be much older.
 */
const ROWS_FOR_TIME = 10_000;

const OF_PARTITION = 'log_id = {log:String} AND raw_partition = {partition:UInt32} AND raw_offset < {before:UInt64}';
const SESSIONS = `outcome = 'row' AND source != 'server' AND visitor_id != '' AND session_id != ''`;
const LINKS = `outcome = 'identify' AND source != 'import' AND visitor_id != '' AND user_id != ''`;
const since = (ms: number): string => `received_at >= fromUnixTimestamp64Milli({at:Int64} - ${ms})`;

/**
 * Reads the state that the enricher had before this raw offset: the sessions of the last day, and the links. It is read from the table `records`,
 * because retention may have removed the raw records before the offset from the topic.
 */
export async function readStateBefore(
  analytics: Pick<Analytics, 'select'>,
  logId: string,
  partition: number,
  before: number,
): Promise<StateBefore> {
  const place = { log: logId, partition, before };
  const [time] = await analytics.select<{ at: number | string }>(
    `SELECT toUnixTimestamp64Milli(max(received_at)) AS at FROM records WHERE ${OF_PARTITION} AND raw_offset >= {from:UInt64}`,
    { ...place, from: Math.max(0, before - ROWS_FOR_TIME) },
  );
  const params = { ...place, at: Number(time?.at ?? 0) };
  const [keys] = await analytics.select<{ n: number | string }>(
    `SELECT (SELECT uniq(site_id, visitor_id) FROM records WHERE ${OF_PARTITION} AND ${SESSIONS} AND ${since(SESSION_TTL_MS)})
       + (SELECT uniq(site_id, user_id) FROM records WHERE ${OF_PARTITION} AND ${LINKS} AND ${since(LINK_TTL_MS)}) AS n`,
    params,
  );

  async function readSessions(nth: number, parts: number): Promise<readonly StateValue[]> {
    const rows = await analytics.select<SessionRow>(
      `SELECT site_id, visitor_id, session_id, toUnixTimestamp64Milli(min(timestamp)) AS start,
         toUnixTimestamp64Milli(max(timestamp)) AS last, max(raw_offset) AS newest, toUnixTimestamp64Milli(max(received_at)) AS seen
       FROM records WHERE ${OF_PARTITION} AND ${SESSIONS} AND ${since(SESSION_ROWS_MS)}
         AND cityHash64(site_id, visitor_id) % {parts:UInt32} = {nth:UInt32}
       GROUP BY site_id, visitor_id, session_id`,
      { ...params, nth, parts },
    );
    const visitors = new Map<string, { readonly sessions: SessionRows[]; seen: number }>();
    for (const row of rows) {
      const key = visitorSessionsKey(row.site_id, row.visitor_id);
      const visitor = visitors.get(key) ?? { sessions: [], seen: 0 };
      const { session_id: id, start, last, newest } = row;
      visitor.sessions.push({ id, start: Number(start), last: Number(last), newest: Number(newest) });
      visitor.seen = Math.max(visitor.seen, Number(row.seen));
      visitors.set(key, visitor);
    }
    return [...visitors]
      .filter(([, { seen }]) => seen > params.at - SESSION_TTL_MS)
      .map(([key, { sessions, seen }]) => ({
        key,
        value: sessionsText(sessionsOfRows(sessions)),
        expiresAt: seen + SESSION_TTL_MS,
      }));
  }

  async function readLinks(nth: number, parts: number): Promise<readonly StateValue[]> {
    const rows = await analytics.select<LinkRow>(
      `SELECT site_id, user_id, linked, seen FROM (
         SELECT site_id, user_id, argMaxIf(visitor_id, raw_offset, reason != 'unlink') AS linked,
           maxIf(raw_offset, reason != 'unlink') AS linked_at, countIf(reason != 'unlink') AS links,
           maxMapIf(map(visitor_id, raw_offset), reason = 'unlink') AS unlinked_at,
           toUnixTimestamp64Milli(maxIf(received_at, reason != 'unlink')) AS seen
         FROM records WHERE ${OF_PARTITION} AND ${LINKS} AND ${since(LINK_TTL_MS)}
           AND cityHash64(site_id, user_id) % {parts:UInt32} = {nth:UInt32}
         GROUP BY site_id, user_id)
       WHERE links > 0 AND unlinked_at[linked] <= linked_at`,
      { ...params, nth, parts },
    );
    return rows.map(({ site_id: siteId, user_id: userId, linked, seen }) => ({
      key: userLinkKey(siteId, userId),
      value: linked,
      expiresAt: Number(seen) + LINK_TTL_MS,
    }));
  }

  return {
    parts: Math.max(1, Math.ceil(Number(keys?.n ?? 0) / KEYS_PER_PART)),
    read: async (nth, parts) => [...(await readSessions(nth, parts)), ...(await readLinks(nth, parts))],
  };
}
