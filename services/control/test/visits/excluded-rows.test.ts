import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { countExcludedRows } from '../../src/reports/excluded-rows.ts';
import { readFilters } from '../../src/reports/filter.ts';
import { SESSIONS } from '../../src/reports/report-sql.ts';
import { choicesOf, DAY_MS, DAYS, randomVisits, SITE, T0 } from './random-visits.ts';

let opened: ClickhouseUnderTest;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
  await opened.analytics.insertRecords(batch(0, randomVisits(choicesOf(1))));
}, 60_000);
afterAll(async () => {
  await opened?.close();
});

/** The number of rows that ClickHouse reads during the work. */
async function readRows(work: () => Promise<unknown>): Promise<number> {
  const selected = async (): Promise<number> => {
    const [row] = await opened.analytics.select<{ value: string }>(
      "SELECT value FROM system.events WHERE event = 'SelectedRows'",
    );
    return Number(row?.value);
  };
  const before = await selected();
  await work();
  return (await selected()) - before;
}

test.each([[[]], [['entry:is:/']]])(
  'the numbers of explain with the filters %j read the visits once',
  async (texts) => {
    const { analytics } = opened;
    const filters = readFilters(texts);
    if ('problem' in filters) throw new Error(filters.problem);
    const period = { zone: 'UTC', fromMs: T0, toMs: T0 + DAYS * DAY_MS };
    const scope = { siteId: SITE, period, withBots: false, filters: filters.value, visits: SESSIONS };
    const site = { site: SITE };
    // Each statement reads the rows that count, and the sessions of these rows.
    const ofVisits = await readRows(() =>
      analytics.userQuery(
        'SELECT max(started_at) FROM sessions WHERE site_id = {site:String} AND session_id IN (SELECT session_id FROM events WHERE site_id = {site:String})',
        site,
      ),
    );
    const ofRows = await readRows(() =>
      analytics.userQuery('SELECT max(session_id) FROM events WHERE site_id = {site:String}', site),
    );
    const all = await readRows(() => countExcludedRows(scope, { analytics, clock: () => period.toMs }));
    expect(all).toBeGreaterThan(ofVisits);
    expect(all).toBeLessThan(1.5 * ofVisits + 2 * ofRows);
  },
);
