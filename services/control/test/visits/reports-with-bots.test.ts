import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { breakdownReport } from '../../src/reports/breakdown-report.ts';
import { dimensionOf } from '../../src/reports/dimensions.ts';
import { METRIC_NAMES } from '../../src/reports/report-metrics.ts';
import { readReportRequest } from '../../src/reports/report-request.ts';
import { SESSIONS } from '../../src/reports/report-sql.ts';
import { statsReport } from '../../src/reports/stats-report.ts';
import { choicesOf, DAY_MS, FILTERS, HOUR_MS, randomVisits, SITE, T0 } from './random-visits.ts';

/** Compares reports that include bots: from the rows near the period, and from the view `sessions`. In some visits, some rows are from a bot. */
const SEED = Number(process.env.WEIR_SLOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** From and to, in hours after `T0`. */
const SPANS = [
  [0, 12 * 24],
  [24, 9 * 24 + 7],
  [11.3, 8 * 24 - 0.2],
  [3 * 24, 4 * 24],
] as const;
const SITE_OF_ROWS = { siteId: SITE, name: SITE, domain: 'a.example', timezone: 'UTC', limits: {}, createdAt: 0 };
const choices = choicesOf(SEED);

let opened: ClickhouseUnderTest;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
  await opened.analytics.insertRecords(batch(0, randomVisits(choices)));
}, 60_000);
afterAll(async () => {
  await opened?.close();
});

test.each([['stats'], ['bot'], ['bot_reason'], ['page'], ['event'], ['country'], ['channel']])(
  `the report by %s with bots is equal from rows and from sessions (WEIR_SLOT_SEED=${SEED})`,
  async (name) => {
    const by = dimensionOf(name);
    const deps = { analytics: opened.analytics, clock: () => T0 + 30 * DAY_MS };
    const sources = new Set<string>();
    for (const [nth, texts] of FILTERS.entries()) {
      const [fromHours, toHours] = SPANS[nth % SPANS.length] ?? SPANS[0];
      const query = {
        ...{ from: timeOf(fromHours), to: timeOf(toHours), bots: 'include', steps: [] },
        // Half of the breakdowns by bot also filter by a bot. A visit with rows of this bot can also have rows that the filter leaves out.
        filters: name === 'bot' && nth % 2 === 0 ? [...texts, 'bot:is:Googlebot'] : texts,
      };
      // Without metrics of visits, a breakdown uses other statements.
      const metrics = choices.pick([METRIC_NAMES, ['visitors', 'pageviews', 'events'] as const]);
      const read = await readReportRequest(SITE_OF_ROWS, query, deps, { by, ...(by !== undefined && { metrics }) });
      if ('problem' in read) throw new Error(read.problem);
      const { scope } = read.value;
      sources.add(scope.visits.of);
      const order = { metric: choices.pick(metrics), direction: 'desc' as const };
      const ask = (request: typeof read.value): Promise<object> =>
        by === undefined
          ? statsReport(request, 'day', deps)
          : breakdownReport(request, { by, order, limit: 1000, page: 1, metrics }, deps);
      const found = await ask(read.value);
      const wanted = await ask({ ...read.value, scope: { ...scope, withVisits: true, visits: SESSIONS } });
      expect([query, found]).toEqual([query, wanted]);
    }
    // Filters on visits need `sessions`, and so does a dimension of visits.
    expect([...sources].sort()).toEqual(by?.scope === 'visit' ? ['sessions'] : ['rows', 'sessions']);
  },
  300_000,
);

function timeOf(hours: number): string {
  return new Date(T0 + hours * HOUR_MS).toISOString();
}
