import { eventually } from '@weir/testkit/eventually';
import type { WeirClient } from '@weir/testkit/weir-client';

const DIMENSIONS = (
  'page hostname entry exit source channel referrer utm_source utm_medium utm_campaign utm_term utm_content country region city ' +
  'language browser browser_version os os_version device event origin bot property:plan property:big property:a.b property:list'
).split(' ');

/**
 * The other requests of `reportsOf`, besides the daily `stats` and the breakdowns. All requests of `reportsOf` together cover all kinds of reports
 * of one site except `realtime`, whose answer depends on the clock.
 */
const OTHERS = [
  'stats?period=all&interval=week&bots=exclude',
  'stats?period=all&interval=month&bots=exclude&filter=entry:is:/',
  'funnel?period=all&step=page:/&step=page:/pricing&step=event:signup',
  'cohorts?period=all&interval=week',
  'journeys?period=all&path=/pricing',
  'conversions?period=all',
  'conversions?period=all&bots=include',
  'properties?period=all',
];
const GOALS = [
  { type: 'event', value: 'signup' },
  { type: 'event', value: 'paid' },
  { type: 'page', value: '/docs/*' },
];

/** Creates the same goals in each site. The report `conversions` needs them. */
export async function addGoals(client: WeirClient, site: string): Promise<void> {
  for (const goal of GOALS) await client.must(201, 'POST', `/sites/${site}/goals`, goal);
}

/** Requests the reports of a site. Returns the answers as lines, so that two sites can be compared. */
export async function reportsOf(client: WeirClient, site: string): Promise<readonly string[]> {
  const ask = async (path: string) =>
    (await client.must(200, 'GET', `/sites/${site}/${path}`)) as Record<string, unknown>;
  const { explain, totals, buckets, timezone } = await ask('stats?period=all&interval=day&bots=include&explain=1');
  const { left_out } = explain as { left_out: object };
  const lines = [
    JSON.stringify({ totals, timezone, left_out }),
    ...(buckets as object[]).map((one) => JSON.stringify(one)),
  ];
  for (const dimension of DIMENSIONS) {
    const { rows } = await ask(
      `breakdown?period=all&bots=include&limit=1000&dimension=${encodeURIComponent(dimension)}`,
    );
    lines.push(...(rows as object[]).map((row) => `${dimension}: ${JSON.stringify(row)}`));
  }
  for (const path of OTHERS) lines.push(`${path}: ${JSON.stringify(await ask(path), withoutIds)}`);
  return lines;
}

const withoutIds = (name: string, value: unknown): unknown =>
  ['goal_id', 'site_id', 'created_at'].includes(name) ? undefined : value;

/** For each table, the columns with the site ID or with IDs that Weir computes from the site ID. Another site has other values in them. */
const SITE_IDS: Readonly<Record<string, readonly string[]>> = {
  people_events: ['site_id', 'session_id', 'profile_id', 'profile_id_then'],
  sessions: ['site_id', 'session_id'],
  profiles: ['site_id', 'profile_id'],
  payments: ['site_id', 'session_id', 'profile_id'],
  payment_totals: ['site_id'],
  payment_customers: ['site_id', 'profile_id'],
  outcomes: ['site_id'],
  links_in_time: ['site_id', 'profile_id'],
};
export const TABLES = Object.keys(SITE_IDS);
const POSITION = ['log_id', 'raw_partition', 'raw_offset'];

/**
 * Returns, as SQL, the columns that must have the same values after an export and an import. The columns in `POSITION` change, because imported
 * records are appended to the log again. The columns in `SITE_IDS` are included only if `withSiteIds` is true. They change if the other site has
 * another ID.
 */
function columnsOf(table: string, withSiteIds: boolean): string {
  const position = table === 'people_events' || table === 'outcomes' ? POSITION : [];
  const except = [...(withSiteIds ? [] : (SITE_IDS[table] ?? [])), ...position];
  return except.length === 0 ? '*' : `* EXCEPT (${except.join(', ')})`;
}

export async function rowsOf(client: WeirClient, site: string, withSiteIds: boolean): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const table of TABLES) {
    const columns = columnsOf(table, withSiteIds);
    const rows = await client.sql(`SELECT ${columns} FROM ${table} WHERE site_id = {site:String}`, { site });
    lines.push(...rows.map((row) => `${table}: ${JSON.stringify(row)}`));
  }
  return lines.toSorted();
}

/** The number and a checksum of the rows of a site in each of `TABLES`, without the columns in `SITE_IDS`. */
export async function checksumsOf(client: WeirClient, site: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const table of TABLES) {
    const [row] = await client.sql(
      `SELECT count() AS n, toString(sum(cityHash64(formatRow('JSONEachRow', *)))) AS checksum
       FROM (SELECT ${columnsOf(table, false)} FROM ${table} WHERE site_id = {site:String})`,
      { site },
    );
    lines.push(`${table}: ${JSON.stringify(row)}`);
  }
  return lines;
}

type Lines = () => Promise<readonly string[]>;

/**
 * Resolves when both functions return the same lines. If they do not, the error shows only the first different lines, because all lines can be
 * megabytes.
 */
export function expectSame(what: string, found: Lines, expected: Lines): Promise<boolean> {
  const without = (all: readonly string[], others: readonly string[]) => {
    const known = new Set(others);
    return all.filter((line) => !known.has(line)).slice(0, 5);
  };
  return eventually(`the same ${what}`, async () => {
    const [one, other] = [await found(), await expected()];
    expect({ missing: without(other, one), added: without(one, other) }).toEqual({ missing: [], added: [] });
    return one.length === other.length;
  });
}
