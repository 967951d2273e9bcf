import { breakdownReport } from '@weir/control/reports/breakdown-report';
import { dimensionOf } from '@weir/control/reports/dimensions';
import { METRIC_NAMES } from '@weir/control/reports/report-metrics';
import { readReportRequest } from '@weir/control/reports/report-request';
import { SESSIONS } from '@weir/control/reports/report-sql';
import { flagDifferingVisits } from '@weir/control/visits/flag-differing-visits';
import { flagScatteredVisits } from '@weir/control/visits/flag-scattered-visits';
import { lastPositions, positionsBefore, rowsAfter } from '@weir/control/visits/rows-after';
import { startVisitChecks } from '@weir/control/visits/start-visit-checks';
import type { Registry } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import {
  batch,
  type RowFields,
  useClickhouse,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const DAY_MS = 24 * 3600_000;
const T0 = Date.UTC(2026, 4, 4, 12);
let next = 0;
const opened = useClickhouse();

/** A pageview of a visit, with the stamp (docs/glossary.md) of a first hit unless `fields` say otherwise. */
const hit = (site: string, session: string, at: number, fields: RowFields = {}): RowFields => ({
  site_id: site,
  visitor_id: `v-${session}`,
  session_id: session,
  pathname: '/a',
  timestamp: at,
  received_at: at,
  channel: 'Direct',
  visit_stamp: 1,
  visit_started: at,
  visit_new: 1,
  visit_bounces: 1,
  visit_entry: '/a',
  visit_channel: 'Direct',
  ...fields,
});
const further = (start: number, at: number): RowFields => ({
  visit_started: start,
  visit_new: 0,
  visit_bounces: -1,
  visit_seconds: (at - start) / 1000,
});
async function insert(...rows: readonly RowFields[]): Promise<void> {
  await opened.analytics.insertRecords(batch(next, rows));
  next += rows.length;
}
const receivedFrom = (ms: number): string => `received_at >= fromUnixTimestamp64Milli(${ms})`;
const flags = async (site: string) =>
  (
    await opened.analytics.select<{ flag: string }>(
      "SELECT DISTINCT concat(session_id, ' ', toString(day)) AS flag FROM visits_computed WHERE site_id = {site:String} ORDER BY flag",
      { site },
    )
  ).map(({ flag }) => flag);

test('visits whose stamps are right are not flagged, and visits that differ are flagged once, on the days of all their rows', async () => {
  const later = T0 + 60_000;
  const after = T0 + 5 * DAY_MS;
  await insert(
    hit('a', 'right', T0),
    hit('a', 'right', later, further(T0, later)),
    hit('a', 'shared', T0),
    hit('a', 'shared', later, { visitor_id: 'other' }),
    hit('a', 'again', T0),
    hit('a', 'again', after),
    hit('a', 'part', T0),
    hit('a', 'part', later, { visit_stamp: 0, visit_new: 0, visit_bounces: 0 }),
    hit('a', 'source', T0, { visit_channel: 'Paid Search' }),
    hit('a', 'bot', T0, { bot: 'Googlebot' }),
    hit('b', 'shared', T0),
  );
  expect(await flagDifferingVisits(opened.analytics, 'a', '2026-05-04')).toBe(4);
  const wanted = ['again 2026-05-04', 'again 2026-05-09', 'part 2026-05-04', 'shared 2026-05-04', 'source 2026-05-04'];
  expect(await flags('a')).toEqual(wanted);
  expect(await flagDifferingVisits(opened.analytics, 'a', '2026-05-04')).toBe(0);
  expect(await flagDifferingVisits(opened.analytics, 'a', '2026-05-09')).toBe(0);
  expect(await flagDifferingVisits(opened.analytics, 'b', '2026-05-04')).toBe(0);
  expect([await flags('a'), await flags('b')]).toEqual([wanted, []]);
});

test('a visit with a row of the last minutes is not compared yet', async () => {
  const now = Date.now();
  const day = new Date(now).toISOString().slice(0, 10);
  await insert(hit('now', 'x', now), hit('now', 'x', now, { visitor_id: 'other' }));
  expect(await flagDifferingVisits(opened.analytics, 'now', day)).toBe(0);
});

test('the check in the background flags the visits of all days that got rows', async () => {
  const now = Date.now() - DAY_MS;
  await insert(
    hit('c', 'x', T0, { received_at: now }),
    hit('c', 'x', T0 + 1, { visitor_id: 'other', received_at: now }),
  );
  const metrics = createMetrics();
  const registry = {
    erasures: () => [],
    replay: () => undefined,
    writersPause: () => undefined,
  } as unknown as Registry;
  const logger = createLogger('silent');
  const deps = {
    analytics: opened.analytics,
    registry,
    ready: Promise.resolve(),
    clock: Date.now,
    logger,
    metrics,
    everyMs: 100,
  };
  const checks = startVisitChecks(deps);
  await eventually('the flag', async () => (await flags('c')).length === 1);
  // Inserts rows that were received before the last check, but are stored after it.
  const before = now - DAY_MS;
  await insert(
    hit('c', 'late', T0, { received_at: before }),
    hit('c', 'late', T0 + 1, { visitor_id: 'other', received_at: before }),
  );
  await eventually('the flag of late rows', async () => (await flags('c')).length === 2);
  await checks.close();
  expect(await flags('c')).toEqual(['late 2026-05-04', 'x 2026-05-04']);
  expect(await metrics.metrics()).toMatch(/weir_visits_flagged_total [1-9]/);
});

test('a visit that a server event names days later is flagged on all of its days, and reports equal sessions again', async () => {
  const later = T0 + 5 * DAY_MS;
  await insert(
    hit('d', 'named', T0, { received_at: T0, channel: 'Paid Search', visit_channel: 'Paid Search' }),
    hit('d', 'named', later, {
      ...{ received_at: later, source: 'server', type: 'event', event_name: 'paid', channel: 'Direct' },
      ...{ visit_stamp: 2, visit_new: 0, visit_bounces: 0 },
    }),
    hit('d', 'near', T0, { received_at: T0 }),
    hit('d', 'near', T0 + 60_000, { received_at: later, visit_stamp: 2, visit_new: 0, visit_bounces: 0 }),
  );
  expect(await flagScatteredVisits(opened.analytics, receivedFrom(later))).toBe(1);
  expect(await flagScatteredVisits(opened.analytics, receivedFrom(later))).toBe(0);
  const muchLater = later + 5 * DAY_MS;
  await insert(
    hit('d', 'named', muchLater, {
      ...{ received_at: muchLater, source: 'server', type: 'event', event_name: 'paid', channel: 'Direct' },
      ...{ visit_stamp: 2, visit_new: 0, visit_bounces: 0 },
    }),
  );
  expect(await flagScatteredVisits(opened.analytics, receivedFrom(muchLater))).toBe(1);
  expect(await flagScatteredVisits(opened.analytics, receivedFrom(muchLater))).toBe(0);
  const wanted = ['named 2026-05-04', 'named 2026-05-09', 'named 2026-05-14'];
  expect((await flags('d')).filter((flag) => flag.startsWith('named'))).toEqual(wanted);

  const site = { siteId: 'd', name: 'd', domain: 'd.example', timezone: 'UTC', limits: {}, createdAt: 0 };
  const deps = { analytics: opened.analytics, clock: () => muchLater + DAY_MS };
  const by = dimensionOf('channel');
  if (by === undefined) throw new Error('no dimension');
  for (const day of ['2026-05-04', '2026-05-09', '2026-05-14']) {
    const request = await readReportRequest(site, { from: day, to: day, filters: [], steps: [] }, deps, { by });
    if ('problem' in request) throw new Error(request.problem);
    const { scope } = request.value;
    expect([day, scope.visits]).toEqual([day, SESSIONS]);
    const order = { metric: 'visitors', direction: 'desc' } as const;
    const report = await breakdownReport(request.value, { by, order, limit: 10, page: 1, metrics: METRIC_NAMES }, deps);
    expect(report).toMatchObject({
      rows:
        day === '2026-05-04'
          ? [
              { value: 'Direct', visits: 1 },
              { value: 'Paid Search', visits: 1, bounce_rate: 0 },
            ]
          : [{ value: 'Paid Search', events: 1 }],
    });
  }
});

test('a visit whose rows come from a dump is flagged too, although they have an old time of receipt and no stamp', async () => {
  const positions = await lastPositions(opened.analytics);
  const old = Date.UTC(2025, 0, 10, 12);
  const dumped = { visit_stamp: 0, visit_new: 0, visit_bounces: 0 };
  await insert(
    hit('e', 'dumped', old, { ...dumped, received_at: old }),
    hit('e', 'dumped', old + 9 * DAY_MS, {
      ...dumped,
      received_at: old,
      source: 'server',
      type: 'event',
      event_name: 'paid',
    }),
    hit('e', 'now', Date.now(), { received_at: Date.now() }),
  );
  expect(await flagScatteredVisits(opened.analytics, rowsAfter(positions, true))).toBe(1);
  expect(await flags('e')).toEqual(['dumped 2025-01-10', 'dumped 2025-01-19']);
  expect(await flagScatteredVisits(opened.analytics, rowsAfter(positions, true))).toBe(0);
});

test('the rows after positions are those that were stored later', async () => {
  const count = async (condition: string) =>
    Number((await opened.analytics.select<{ n: number }>(`SELECT count() AS n FROM records WHERE ${condition}`))[0]?.n);
  const all = await count('true');
  const positions = await lastPositions(opened.analytics);
  expect(await count(rowsAfter(positions, true))).toBe(0);
  await insert(
    hit('f', 'x', T0, { received_at: T0 }),
    hit('f', 'x', Date.now() + DAY_MS * 30, { received_at: Date.now() + DAY_MS * 30 }),
  );
  expect(await count(rowsAfter(positions, true))).toBe(2);
  expect(await count(rowsAfter(new Map(), true))).toBe(all + 2);
  expect(await count(rowsAfter(new Map(), false))).toBe(0);
  expect(await count(rowsAfter(await positionsBefore(opened.analytics, 1000), false))).toBe(1);
});
