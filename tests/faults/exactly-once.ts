import type { Load } from '@weir/testkit/load';
import type { WeirProcess } from '@weir/testkit/weir-process';
import { runProgram, TEST_ADMIN_TOKEN } from '@weir/testkit/weir-process';

/** Settings of a Weir under faults: no limit but the machine's. */
export const FAULTS_ENV = {
  RATE_LIMIT_COLLECT: '100000000',
  RATE_LIMIT_EVENTS: '100000000',
  RATE_LIMIT_IDENTIFY: '100000000',
};

/** Every acknowledged event is stored exactly once, nothing twice, and the audit balances: in SQL and by `weir audit`. */
export async function expectExactlyOnce(
  weir: Pick<WeirProcess, 'client' | 'url'>,
  site: string,
  load: Load,
): Promise<void> {
  await weir.client.settled(120_000);
  const keys = await countsOf(weir, site, 'idempotency_key', "source = 'server'");
  const hits = await countsOf(weir, site, 'event_name', "source = 'collect'");

  expect(load.strange).toEqual([]);
  expect([...load.acknowledgedKeys].filter((name) => !keys.has(name))).toEqual([]);
  expect([...load.acknowledgedHits].filter((name) => !hits.has(name))).toEqual([]);
  expect([...keys, ...hits].filter(([, count]) => count !== 1)).toEqual([]);

  expect(await weir.client.audit()).toEqual([]);
  expect(await weir.client.number('SELECT count() FROM dead_letters')).toBe(0);
  const audit = await runProgram('weir.js', ['audit'], { WEIR_URL: weir.url, WEIR_ADMIN_TOKEN: TEST_ADMIN_TOKEN });
  expect({ code: audit.code, output: audit.code === 0 ? '' : audit.stdout + audit.stderr }).toEqual({
    code: 0,
    output: '',
  });
}

/** How often each value of a column is stored; read in parts, because one answer has a limit. */
async function countsOf(
  weir: Pick<WeirProcess, 'client' | 'url'>,
  site: string,
  column: string,
  where: string,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const parts = 16;
  for (let part = 0; part < parts; part++) {
    const rows = await weir.client.sql(
      `SELECT ${column} AS name, count() AS n FROM events WHERE site_id = {site:String} AND ${where} AND cityHash64(${column}) % ${parts} = {part:UInt8} GROUP BY name`,
      { site, part },
    );
    for (const row of rows) counts.set(String(row.name), Number(row.n));
  }
  return counts;
}

/** One line on what a run did, where a failing CI shows it. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
