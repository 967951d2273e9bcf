import { replyOfError } from '../http/admin-reply.ts';
import type { SteadyTables } from '../steady-tables.ts';

/** For each rule ID, the number of dropped hits, and the start of the minute of the last dropped hit in Unix milliseconds. */
export type RuleDrops = ReadonlyMap<string, { readonly hits: number; readonly lastMinuteMs: number }>;

const QUERY = `SELECT rule_id, sum(records) AS hits, toUnixTimestamp(max(minute)) AS last_minute FROM books_sums
WHERE site_id = {site:String} AND outcome = 'dropped' AND rule_id != '' GROUP BY rule_id`;

/**
 * Counts the hits that each exclusion rule of the site has dropped, in all stored records. Resolves with undefined while ClickHouse is
 * unavailable: the rules are then shown without counts.
 */
export async function countRuleDrops(tables: SteadyTables, siteId: string): Promise<RuleDrops | undefined> {
  try {
    const rows = await tables.read(({ select }) =>
      select<{ rule_id: string; hits: number | string; last_minute: number }>(QUERY, { site: siteId }),
    );
    return new Map(
      rows.map((row) => [row.rule_id, { hits: Number(row.hits), lastMinuteMs: Number(row.last_minute) * 1000 }]),
    );
  } catch (error) {
    if (replyOfError(error)?.status === 503) return undefined;
    throw error;
  }
}
