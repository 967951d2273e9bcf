import { countExcludedRows } from '../../src/reports/excluded-rows.ts';
import { SESSIONS } from '../../src/reports/report-sql.ts';
import { PERIOD, scopeOf, useRandomTables } from './random-tables.ts';
import { SITE } from './random-visits.ts';

const tables = useRandomTables();

test.each([[[]], [['entry:is:/']]])(
  'the numbers of explain with the filters %j read the visits once',
  async (texts) => {
    const analytics = tables.analytics();
    const { readRows } = tables;
    const scope = { ...scopeOf(texts), visits: SESSIONS };
    const site = { site: SITE };
    // This query reads once what `countExcludedRows` must read: the rows of `events`, and the sessions of these rows.
    const ofVisits = await readRows(() =>
      analytics.userQuery(
        'SELECT max(started_at) FROM sessions WHERE site_id = {site:String} AND session_id IN (SELECT session_id FROM events WHERE site_id = {site:String})',
        site,
      ),
    );
    const ofRows = await readRows(() =>
      analytics.userQuery('SELECT max(session_id) FROM events WHERE site_id = {site:String}', site),
    );
    const all = await readRows(() => countExcludedRows(scope, { analytics, clock: () => PERIOD.toMs }));
    expect(all).toBeGreaterThan(ofVisits);
    expect(all).toBeLessThan(1.5 * ofVisits + 2 * ofRows);
  },
);
