import { type AskedScope, SESSIONS, type VisitSource } from '../../src/reports/report-sql.ts';
import { statsStatement } from '../../src/reports/stats-sql.ts';
import { visitSourceOf } from '../../src/reports/visits/visit-source.ts';
import { buildDays } from '../../src/visit-slots/build-days.ts';
import { builtRun } from '../../src/visit-slots/built-run.ts';
import { buildContextOf } from '../visit-slots/slot-builds-harness.ts';
import { PERIOD, scopeOf, useRandomTables } from './random-tables.ts';
import { SITE, T0 } from './random-visits.ts';

const tables = useRandomTables();

/** The number of rows that ClickHouse reads for the stats of a scope. */
function readRows(scope: AskedScope, visits: VisitSource): Promise<number> {
  const { sql, params } = statsStatement({ ...scope, visits }, [T0]);
  return tables.readRows(() => tables.analytics().userQuery(sql, params));
}

test('a statement reads the rows for the list of visitors once', async () => {
  const analytics = tables.analytics();
  await buildDays(buildContextOf(analytics), { siteId: SITE, fromMs: T0, toMs: PERIOD.toMs, rows: 1 });
  const run = await builtRun(SITE, PERIOD, analytics);
  if (run === undefined) throw new Error('no day was built');

  const ofRows = (scope: AskedScope) => visitSourceOf(scope, analytics);
  const ofSlots = (scope: AskedScope) => visitSourceOf(scope, analytics, { ...run, isEstimate: false });
  const ofSessions = async () => SESSIONS;
  const [count] = await analytics.select<{ rows: string; slots: string }>(
    'SELECT (SELECT count() FROM records) AS rows, (SELECT count() FROM visit_slots) AS slots',
  );
  const [rows, slots] = [Number(count?.rows), Number(count?.slots)];
  for (const [sourceOf, listRows] of [
    [ofRows, rows],
    [ofSlots, rows + slots],
    [ofSessions, rows],
  ] as const) {
    for (const filter of ['done_event:is_not:signup', 'viewed_page:is:/']) {
      const plain = scopeOf([]);
      const filtered = scopeOf([filter]);
      const source = await sourceOf(filtered);
      const more = (await readRows(filtered, source)) - (await readRows(plain, source));
      expect(more).toBeGreaterThan(0);
      // `more` can be larger than `listRows`, because the operator IN also reads a row of `system.one`.
      expect(more).toBeLessThan(1.5 * listRows);
    }
  }
}, 60_000);
