import type { Row, WeirClient } from '@weir/testkit/weir-client';
import { groupsOf, inOrder } from './model-people.ts';

const MS = 'toUnixTimestamp64Milli';
const OF_SITES = 'WHERE site_id IN {sites:Array(String)}';

/**
 * Reads the tables of these sites. The returned function gives the tables of one site, in the form of `expectedTables` (model-people.ts). One
 * query reads a table for all sites: on small tables, it takes as long as for one site.
 */
export async function readSiteTables({ sql }: WeirClient, sites: readonly string[]): Promise<(site: string) => object> {
  const read = async (query: string) => {
    const rows = await sql(query, { sites });
    return (site: string): readonly Row[] => rows.filter((row) => row.site_id === site);
  };
  const profilesOf = await read(
    `SELECT site_id, profile_id, user_id, visitor_ids, ${MS}(first_seen_at) AS first, ${MS}(last_seen_at) AS last
     FROM profiles ${OF_SITES} ORDER BY user_id`,
  );
  const eventsOf = await read(
    `SELECT site_id, ${MS}(timestamp) AS at, event_name, pathname, source, bot, visitor_id, session_id, profile_id
     FROM events ${OF_SITES} ORDER BY at`,
  );
  const sessionsOf = await read(
    `SELECT site_id, session_id, ${MS}(started_at) AS started, ${MS}(ended_at) AS ended, duration_seconds, pageviews, events, is_bounce,
       entry_path, exit_path, channel, traffic_source, referrer_domain, utm_campaign, utm_term, country, city, browser, os,
       device_type
     FROM sessions ${OF_SITES} ORDER BY started`,
  );
  const paymentsOf = await read(
    `SELECT site_id, ${MS}(timestamp) AS at, currency, ifNull(toString(amount), '') AS amount, profile_id, channel, first_channel, last_channel
     FROM payments ${OF_SITES} ORDER BY at`,
  );
  const outcomesOf = await read(
    `SELECT site_id, outcome, reason, count() AS records FROM outcomes ${OF_SITES}
     GROUP BY site_id, outcome, reason ORDER BY outcome`,
  );

  return (site) => {
    const profiles = profilesOf(site);
    const events = eventsOf(site);
    const visits = new Set(sessionsOf(site).map(({ session_id }) => session_id));
    const users = new Map(profiles.map(({ profile_id, user_id }) => [profile_id, user_id]));
    const user = ({ profile_id: id }: Row): unknown => (id === '' ? '' : (users.get(id) ?? 'a user without a profile'));
    const idsOf = (name: string, of: readonly Row[]): object =>
      groupsOf(of.map((row) => [String(row[name]), Number(row.at)]));
    return {
      events: inOrder(
        events.map(({ site_id, visitor_id, session_id, profile_id, at, ...others }) => ({
          ...others,
          at: Number(at),
          user: user({ profile_id }),
        })),
      ),
      visitors: idsOf('visitor_id', events),
      visits: idsOf(
        'session_id',
        events.filter(({ bot, session_id }) => bot === '' && visits.has(session_id)),
      ),
      sessions: sessionsOf(site).map(({ site_id, session_id, is_bounce, ...row }) => ({
        ...withNumbers(row, 'started', 'ended', 'duration_seconds', 'pageviews', 'events'),
        is_bounce: Boolean(is_bounce),
      })),
      profiles: profiles.map(({ site_id, profile_id, ...row }) => withNumbers(row, 'first', 'last')),
      payments: inOrder(
        paymentsOf(site).map(({ site_id, profile_id, at, ...row }) => ({
          ...row,
          at: Number(at),
          user: user({ profile_id }),
        })),
      ),
      outcomes: outcomesOf(site).map(({ site_id, ...row }) => withNumbers(row, 'records')),
    };
  };
}

/** The row with these columns as numbers. ClickHouse can send 64-bit numbers and decimals as texts. */
function withNumbers(row: Row, ...names: readonly string[]): Row {
  return { ...row, ...Object.fromEntries(names.map((name) => [name, Number(row[name])])) };
}
