import type { Statement } from '../reports/report-sql.ts';

/** A part of a list. The statement reads one row more than `limit`, so that the caller knows whether there are more rows. */
export interface Page {
  readonly limit: number;
  /** The first page is 1. */
  readonly page: number;
}

/** A person: a user with all of its visitors, or one visitor. */
export type PersonId = { readonly userId: string; readonly profileId: string } | { readonly visitorId: string };

const PAYMENTS_MAX = 100;

function pageSql({ limit, page }: Page): string {
  return `LIMIT ${limit + 1} OFFSET ${limit * (page - 1)}`;
}

/** Returns the SQL of a time in ISO 8601. The ending `_iso` is added to the name of the column. */
function iso(column: string): string {
  return `concat(replaceOne(toString(${column}), ' ', 'T'), 'Z') AS ${column}_iso`;
}

const PROFILE = `profile_id, user_id, email, name, image, traits, visitor_ids, ${iso('first_seen_at')}, ${iso('last_seen_at')}`;

/**
 * Selects the users of a site whose ID, e-mail address, name or traits contain the text, or who have a visitor whose ID is the text. The
 * users who were seen last come first.
 */
export function searchStatement(siteId: string, search: string, page: Page): Statement {
  const contains = (column: string): string => `positionCaseInsensitiveUTF8(${column}, {search:String}) > 0`;
  const found = ['user_id', 'email', 'name', 'toString(traits)'].map(contains);
  const matches = search === '' ? '' : `AND (${found.join(' OR ')} OR has(visitor_ids, {search:String}))`;
  return {
    sql: `SELECT ${PROFILE} FROM profiles WHERE site_id = {site:String} ${matches}
ORDER BY last_seen_at DESC, profile_id ${pageSql(page)}`,
    params: { site: siteId, ...(search === '' ? {} : { search }) },
  };
}

/** Selects the profile of a person. There is no row if the user was never identified, or if the visitor belongs to no user. */
export function profileStatement(siteId: string, person: PersonId): Statement {
  const isPerson = 'userId' in person ? 'profile_id = {profile:String}' : 'has(visitor_ids, {visitor:String})';
  return {
    sql: `SELECT ${PROFILE} FROM profiles WHERE site_id = {site:String} AND ${isPerson} ORDER BY profile_id LIMIT 1`,
    params: paramsOf(siteId, person),
  };
}

export function eventsStatement(siteId: string, person: PersonId, page: Page): Statement {
  return {
    sql: `SELECT event_id, source, type, event_name, ${iso('timestamp')}, visitor_id, session_id, user_id, value, properties, url, hostname,
pathname, referrer, channel, traffic_source, country, region, city, browser, os, device_type, bot
FROM events WHERE site_id = {site:String} AND ${ownEvents(person)}
ORDER BY timestamp DESC, log_id, raw_partition, raw_offset DESC ${pageSql(page)}`,
    params: paramsOf(siteId, person),
  };
}

export function sessionsStatement(siteId: string, sessionIds: readonly string[]): Statement {
  return {
    sql: `SELECT session_id, visitor_id, ${iso('started_at')}, ${iso('ended_at')}, duration_seconds, pageviews, events, entry_path, exit_path,
is_bounce, channel, traffic_source, country, browser, os, device_type
FROM sessions WHERE site_id = {site:String} AND session_id IN {sessions:Array(String)} ORDER BY started_at DESC, session_id`,
    params: { site: siteId, sessions: sessionIds },
  };
}

/** A user who was never identified has no profile. The events and payments with this user ID then have the profile of their visitor, or none. */
const OWN_PROFILE = `(profile_id = {profile:String} OR profile_id = '' AND user_id = {user:String})`;

/** Selects the last payments of a person (docs/people-and-money.md). */
export function paymentsStatement(siteId: string, person: PersonId): Statement {
  const isPayer = 'userId' in person ? OWN_PROFILE : 'visitor_key = {visitor:String}';
  return {
    sql: `SELECT event_id, event_name, ${iso('timestamp')}, currency, amount_text AS amount
FROM payments_owned WHERE site_id = {site:String} AND ${isPayer} ORDER BY timestamp DESC, event_id LIMIT ${PAYMENTS_MAX}`,
    params: paramsOf(siteId, person),
  };
}

/**
 * Returns a condition for the events of a person. ClickHouse computes the column `profile_id` for each row, which is expensive. So a second
 * condition, on stored columns, first selects a few rows.
 */
function ownEvents(person: PersonId): string {
  if ('visitorId' in person) return 'visitor_id = {visitor:String}';
  return `${OWN_PROFILE} AND (user_id = {user:String} OR visitor_id IN
(SELECT arrayJoin(visitor_ids) FROM profiles WHERE site_id = {site:String} AND profile_id = {profile:String}))`;
}

function paramsOf(siteId: string, person: PersonId): Statement['params'] {
  if ('visitorId' in person) return { site: siteId, visitor: person.visitorId };
  return { site: siteId, user: person.userId, profile: person.profileId };
}
