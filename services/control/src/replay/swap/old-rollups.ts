import type { Analytics } from '@weir/ports/analytics';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { KEPT_COLUMNS, keptColumns } from '../../retention/kept-sessions.ts';

/** The number of sessions in one insert. They are one block, which ClickHouse holds in memory. */
const SESSIONS_PER_BLOCK = 100_000;

/**
 * Copies from the live tables into the shadow tables (docs/glossary.md) the rows that a replay cannot compute again. These are the flags of
 * visits in `visits_computed`. For sites with expired events, they are also the sessions of these events, the hours of moved sessions, and the
 * times at which visitors were seen. Call it when both sets of tables have the same records and nothing is inserted. `token` names the swap, so
 * that a repeat changes nothing.
 */
export async function keepOldRollups(
  { analytics, shadow }: { readonly analytics: Analytics; readonly shadow: ShadowTables },
  token: string,
): Promise<void> {
  const { live, shadow: other } = shadow;
  // The column `by_row` is true if the visit was flagged because of its own rows. It must be copied too: if a report finds visits with `by_row`
  // false near its period, it reads `sessions`, which is slower.
  const flag = 'site_id, day, session_id, by_row';
  await analytics.change(
    `INSERT INTO ${other}.visits_computed (${flag}) SELECT DISTINCT ${flag} FROM ${live}.visits_computed`,
  );
  const limits = await analytics.select<{ site: string; until: number | string }>(
    `SELECT toString(site_id) AS site, toUnixTimestamp64Milli(max(timestamp)) AS until
     FROM ${live}.records WHERE outcome = 'expired' AND reason = 'events' GROUP BY site ORDER BY site`,
  );
  if (limits.length === 0) return;
  const sites = limits.map(({ site }) => `'${site}'`).join(', ');
  const own = `site_id IN (${sites})`;
  const until = `fromUnixTimestamp64Milli(transform(toString(site_id), [${sites}], [${limits.map((row) => Number(row.until)).join(', ')}], toInt64(0)), 'UTC')`;
  await analytics.runningInsertsEnd(other);

  const key = 'site_id, made_for, session_id';
  const counted = (database: string, sign: '' | '-'): string =>
    `SELECT ${key}, ${sign}toInt64(sum(pageviews) + sum(events)) AS hits, ${sign === '' ? 'min(started_at)' : 'max(ended_at)'} AS moment
     FROM ${database}.session_parts WHERE ${own} GROUP BY ${key}`;
  /** Sessions of which the shadow tables count fewer hits than the live tables, and which began before the last expired event. */
  const incomplete = `SELECT ${key} FROM (${counted(live, '')} UNION ALL ${counted(other, '-')})
    GROUP BY ${key} HAVING sum(hits) > 0 AND maxIf(moment, hits > 0) <= ${until}`;
  const [row] = await analytics.select<{ n: number | string }>(`SELECT count() AS n FROM (${incomplete})`);
  const blocks = Math.ceil(Number(row?.n ?? 0) / SESSIONS_PER_BLOCK);
  for (let block = 0; block < blocks; block++) {
    const these = `${own} AND (${key}) IN (SELECT ${key} FROM (${incomplete}) WHERE cityHash64(${key}) % ${blocks} = ${block})`;
    const parts = `SELECT *, 1 AS sign FROM ${live}.session_parts WHERE ${these} UNION ALL SELECT *, -1 AS sign FROM ${other}.session_parts WHERE ${these}`;
    await analytics.change(
      `INSERT INTO ${other}.sessions_kept (${KEPT_COLUMNS})
       SELECT ${keptColumns(`'swap:${token}'`, 'parts.sign')} FROM (${parts}) AS parts GROUP BY ${key}`,
    );
  }
  for (const [table, columns] of [
    ['moved_hours', 'site_id, visitor_id, hour'],
    ['people_seen', 'site_id, visitor_id, user_id, first_seen_at, last_seen_at'],
  ] as const) {
    await analytics.change(
      `INSERT INTO ${other}.${table} (${columns}) SELECT ${columns} FROM ${live}.${table} WHERE ${own}${table === 'people_seen' ? ` AND first_seen_at <= ${until}` : ''}`,
    );
  }
}
