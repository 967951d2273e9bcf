import type { WeirClient } from '@weir/testkit/weir-client';

/** Tables whose columns have the same meaning in all versions. The value is the key of a row. */
const TABLES: Readonly<Record<string, string>> = {
  events: 'event_id',
  sessions: 'session_id',
  profiles: 'profile_id',
  outcomes: '(log_id, raw_partition, raw_offset)',
  payments: 'event_id',
  payment_totals: 'currency',
};
const DIMENSIONS = (
  'page hostname entry exit source channel referrer utm_source utm_medium utm_campaign country region city language browser ' +
  'browser_version os os_version device event origin bot property:plan property:big'
).split(' ');
const PERIOD = 'from=2026-04-20&to=2026-07-31';
const REPORTS = [
  ...['exclude', 'include'].flatMap((bots) => [
    `stats?FROM_TO&interval=day&bots=${bots}`,
    `stats?FROM_TO&interval=week&bots=${bots}&compare=previous_period`,
  ]),
  'stats?FROM_TO&interval=month&filter=entry:is:/',
  'stats?FROM_TO&interval=month&filter=country:is:US,DE&filter=device:is:desktop',
  ...DIMENSIONS.flatMap((dimension) => [
    `breakdown?FROM_TO&limit=1000&dimension=${encodeURIComponent(dimension)}`,
    `breakdown?FROM_TO&limit=1000&bots=include&dimension=${encodeURIComponent(dimension)}`,
  ]),
];

/** The data of a site, as one version returns it: columns and checksums of its tables, and its reports. */
export interface SiteNumbers {
  readonly tables: readonly TableNumbers[];
  readonly reports: Readonly<Record<string, unknown>>;
}

interface TableNumbers {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** For each column. */
  readonly checksums: readonly string[];
}

/** Reads the numbers of a site. With `like`, it reads only the tables and columns that `like` has, because a later version can have more. */
export async function readNumbers(client: WeirClient, site: string, like?: SiteNumbers): Promise<SiteNumbers> {
  const tables: TableNumbers[] = [];
  for (const table of Object.keys(TABLES)) {
    const known = like?.tables.find((one) => one.table === table);
    if (like !== undefined && known === undefined) continue;
    const columns = known?.columns ?? (await columnsOf(client, site, table));
    if (columns !== undefined) tables.push(await readTable(client, site, table, columns));
  }
  const reports: Record<string, unknown> = {};
  for (const report of REPORTS) {
    reports[report] = await client.must(200, 'GET', `/sites/${site}/${report.replace('FROM_TO', PERIOD)}`);
  }
  return { tables, reports };
}

/**
 * Compares the numbers of a site in two versions. Returns one sentence for each difference. A later version may have further fields in its
 * answers.
 */
export function differencesOf(before: SiteNumbers, after: SiteNumbers): readonly string[] {
  const tables = before.tables.flatMap(({ table, columns, rows, checksums }) => {
    const now = after.tables.find((one) => one.table === table);
    if (now?.rows !== rows) return [`${table} had ${rows} rows, and now has ${now?.rows}`];
    return columns.filter((_, nth) => checksums[nth] !== now.checksums[nth]).map((name) => `${table}.${name} differs`);
  });
  const reports = Object.entries(before.reports).flatMap(([report, answer]) =>
    fieldDifferences(report, answer, after.reports[report]),
  );
  return [...tables, ...reports];
}

function fieldDifferences(place: string, before: unknown, after: unknown): readonly string[] {
  if (typeof before !== 'object' || before === null || typeof after !== 'object' || after === null) {
    return before === after ? [] : [`${place}: ${JSON.stringify(before)} is now ${JSON.stringify(after)}`];
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length !== after.length) {
    return [`${place}: ${before.length} entries are now ${after.length}`];
  }
  return Object.entries(before).flatMap(([name, value]) =>
    fieldDifferences(`${place} ${name}`, value, (after as Record<string, unknown>)[name]),
  );
}

/** Returns the columns of a table; undefined if this version does not have the table. */
async function columnsOf(client: WeirClient, site: string, table: string): Promise<readonly string[] | undefined> {
  const [found] = await client.sql(
    `SELECT groupArray(name) AS names FROM (SELECT name FROM system.columns WHERE database = 'weir' AND table = '${table}' ORDER BY position)`,
  );
  const names = (found?.names ?? []) as readonly string[];
  if (names.length === 0) return undefined;
  const rows = await client.number(`SELECT count() FROM ${table} WHERE site_id = {site:String}`, { site });
  if (rows === 0) throw new Error(`the history has no rows of ${table}`);
  return names;
}

/** Reads the checksums of the columns. The checksum of a column depends on the value and the key of each row. */
async function readTable(
  client: WeirClient,
  site: string,
  table: string,
  columns: readonly string[],
): Promise<TableNumbers> {
  const key = TABLES[table];
  const sums = columns.map((name, nth) => `toString(sum(cityHash64(${key}, toString(\`${name}\`)))) AS sum_${nth}`);
  const [row] = await client.sql(
    `SELECT count() AS n, ${sums.join(', ')} FROM ${table} WHERE site_id = {site:String}`,
    {
      site,
    },
  );
  return { table, columns, rows: Number(row?.n), checksums: columns.map((_, nth) => String(row?.[`sum_${nth}`])) };
}
