import { breakdownReport } from '@weir/control/reports/breakdown-report';
import { type Dimension, dimensionOf } from '@weir/control/reports/dimensions';
import { METRIC_NAMES } from '@weir/control/reports/report-metrics';
import { type ReportRequest, readReportRequest } from '@weir/control/reports/report-request';
import type { Scope } from '@weir/control/reports/report-sql';
import { readPeriodFacts } from '@weir/control/reports/visits/period-facts';
import { readsSlots } from '@weir/control/reports/visits/slot-rows';
import { visitSourceOf } from '@weir/control/reports/visits/visit-source';
import type { BuildContext } from '@weir/control/visit-slots/build-days';
import { buildDays } from '@weir/control/visit-slots/build-days';
import { buildMonth, monthsToBuild, removeOldMonths } from '@weir/control/visit-slots/build-months';
import { monthRunOf } from '@weir/control/visit-slots/month-run';
import { DAY_MS, HOUR_MS } from '../visits/random-visits.ts';
import { useSlotBuilds } from './slot-builds-harness.ts';

// These tests are about the edges of the months whose sums a report reads (docs/decisions/0062), and about clocks that differ.

const AUGUST_31 = Date.UTC(2026, 7, 31);
const SEPTEMBER = Date.UTC(2026, 8, 1);
const OCTOBER = Date.UTC(2026, 9, 1);
const { opened, context, insert } = useSlotBuilds();
const by = dimensionOf('page') as Dimension;

const days = (siteId: string, fromMs: number, toMs: number) => buildDays(context(), { siteId, fromMs, toMs, rows: 1 });

async function build(site: string, by: BuildContext = context()): Promise<void> {
  for (const month of await monthsToBuild(context(), site, 0)) expect(await buildMonth(by, month)).toBe(true);
}

async function scopesOf(site: string, query: object) {
  const { analytics } = opened;
  const about = { siteId: site, name: site, domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 0 };
  const deps = { analytics, clock: () => OCTOBER + 60 * DAY_MS };
  const found = await readReportRequest(about as never, { filters: [], steps: [], ...query } as never, deps, { by });
  const { value } = found as { readonly value: ReportRequest };
  const { scope } = value;
  if (!readsSlots(scope)) throw new Error('the report reads no slots');
  const { built } = scope.visits;
  const months = monthRunOf((await readPeriodFacts(scope, analytics)).days, built);
  const withMonths = { ...scope, visits: { ...scope.visits, built: { ...built, months, isEstimate: true } } };
  const rows: Scope = { ...scope, visits: await visitSourceOf(scope, analytics) };
  const part = {
    by,
    order: { metric: 'visitors', direction: 'desc' },
    limit: 100,
    page: 1,
    metrics: METRIC_NAMES,
  } as const;
  const answer = (one: Scope) => breakdownReport({ ...value, scope: one }, part, deps);
  return { months, answers: { months: () => answer(withMonths), rows: () => answer(rows) } };
}

test('a page of a visit that began before the month keeps its name', async () => {
  const before = SEPTEMBER - 5 * 60_000;
  const rows = Array.from({ length: 20 }, (_, n) => [
    { timestamp: before, pathname: '/first', visitor_id: `v${n}`, session_id: `s${n}` },
    { timestamp: SEPTEMBER + 60_000, pathname: `/second-${n}`, visitor_id: `v${n}`, session_id: `s${n}` },
  ]).flat();
  await insert('names', rows);
  expect((await days('names', SEPTEMBER, OCTOBER)).skipped).toEqual([]);
  await build('names');
  for (const from of ['2026-08-31', '2026-09-01']) {
    const timezone = from === '2026-08-31' ? 'UTC' : 'Europe/Berlin';
    const { months, answers } = await scopesOf('names', { from, to: '2026-10-20', timezone });
    expect(months).toMatchObject({ fromMs: SEPTEMBER, toMs: OCTOBER });
    expect(await answers.months()).toEqual(await answers.rows());
  }
}, 120_000);

test('a month that was built after a clock had been ahead stays', async () => {
  await insert('ahead', [{ timestamp: SEPTEMBER + HOUR_MS, pathname: '/a', visitor_id: 'v', session_id: 's' }]);
  await days('ahead', AUGUST_31, OCTOBER);
  await build('ahead', { ...context(), clock: () => Date.now() + HOUR_MS / 2 });
  await days('ahead', SEPTEMBER, SEPTEMBER + DAY_MS);
  await build('ahead');
  const used = async () => (await scopesOf('ahead', { from: '2026-08-31', to: '2026-10-20' })).months?.builds;
  const built = await used();
  expect(built).toHaveLength(1);
  await removeOldMonths({ ...context(), clock: () => Date.now() + 2 * HOUR_MS }, 'ahead');
  expect(await used()).toEqual(built);
}, 120_000);

test('a build whose rows an erasure deletes stops, and is not one with wrong rows', async () => {
  await insert('erased', [{ timestamp: SEPTEMBER + HOUR_MS, pathname: '/a', visitor_id: 'v', session_id: 's' }]);
  await days('erased', SEPTEMBER, OCTOBER);
  const [month] = await monthsToBuild(context(), 'erased', 0);
  if (month === undefined) throw new Error('no month');
  let began = false;
  const erasing: BuildContext = {
    ...context(),
    assertUnchanged() {
      if (began) throw new Error('an erasure began');
    },
    async change(statement) {
      await opened.analytics.change(statement);
      if (!statement.includes("'exit' AS dimension")) return;
      began = true;
      await opened.analytics.change("ALTER TABLE visit_months DELETE WHERE site_id = 'erased'");
    },
  };
  await expect(buildMonth(erasing, month)).rejects.toThrow('an erasure began');
}, 120_000);
