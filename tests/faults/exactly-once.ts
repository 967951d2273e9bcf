import { type Load, seededRandom } from '@weir/testkit/load';
import type { WeirClient } from '@weir/testkit/weir-client';
import { mustRunWeir, type WeirProcess } from '@weir/testkit/weir-process';

/** Settings of Weir in the fault tests: rate limits that no test reaches. */
export const FAULTS_ENV = {
  RATE_LIMIT_COLLECT: '100000000',
  RATE_LIMIT_EVENTS: '100000000',
  RATE_LIMIT_IDENTIFY: '100000000',
};

/**
 * Checks that every acknowledged event is stored exactly once, and that no event is stored twice. Also checks that the audit is balanced (by SQL
 * and by `weir audit`), that no visit has wrong stamps, that no dead letter exists, and that the load received no unexpected answer.
 */
export async function expectExactlyOnce(
  { client }: Pick<WeirProcess, 'client'>,
  site: string,
  load: Load,
): Promise<void> {
  await client.settled(300_000);
  const keys = await countsOf(client, site, 'idempotency_key', "source = 'server'");
  const hits = await countsOf(client, site, 'event_name', "source = 'collect'");

  expect(load.strange).toEqual([]);
  expect([...load.acknowledgedKeys].filter((name) => !keys.has(name))).toEqual([]);
  expect([...load.acknowledgedHits].filter((name) => !hits.has(name))).toEqual([]);
  expect([...keys, ...hits].filter(([, count]) => count !== 1)).toEqual([]);

  expect(await client.sql(VISITS_WITH_WRONG_STAMPS)).toEqual([]);
  expect(await client.audit()).toEqual([]);
  expect(await client.number('SELECT count() FROM dead_letters')).toBe(0);
  await mustRunWeir(client, 'audit');
}

/** Selects the visits whose stamps (docs/glossary.md) differ from their row of the view `sessions`. Ignores visits in which a row has no stamp. */
export const VISITS_WITH_WRONG_STAMPS = `SELECT * FROM
  (
    SELECT site_id, session_id, sum(visit_new) AS n, sum(visit_bounces) AS b, sum(visit_seconds) AS s, any(visit_started) AS began, any(visit_entry) AS entry
    FROM event_rows WHERE bot = '' AND session_id != '' GROUP BY site_id, session_id HAVING min(visit_stamp) = 1 AND max(visit_stamp) = 1
  ) AS stamped
  LEFT JOIN sessions USING (site_id, session_id)
  WHERE if(sessions.visitor_id = '', (n, b, s) != (0, 0, 0), (n, b, s, began, entry) != (1, is_bounce, duration_seconds, started_at, entry_path))`;

/** Counts the rows for each value of a column. Reads in parts, because the size of one answer is limited. */
async function countsOf(client: WeirClient, site: string, column: string, where: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const parts = 16;
  for (let part = 0; part < parts; part++) {
    const rows = await client.sql(
      `SELECT ${column} AS name, count() AS n FROM events WHERE site_id = {site:String} AND ${where} AND cityHash64(${column}) % ${parts} = {part:UInt8} GROUP BY name`,
      { site, part },
    );
    for (const row of rows) counts.set(String(row.name), Number(row.n));
  }
  return counts;
}

/** The seed of a run: `WEIR_FAULT_SEED` repeats the random moments of an earlier run. */
export function faultSeed(): number {
  return Number(process.env.WEIR_FAULT_SEED ?? Date.now() % 1_000_000);
}

/** Prints the seed of a run, and returns its generator of random numbers. */
export function faultRandom(run: string): () => number {
  const seed = faultSeed();
  say(`${run}: WEIR_FAULT_SEED=${seed}`);
  return seededRandom(seed);
}

/** Prints one line, so that it is visible in the output of CI. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
