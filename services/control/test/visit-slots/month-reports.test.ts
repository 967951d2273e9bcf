import { breakdownReport } from '@weir/control/reports/breakdown-report';
import { type Dimension, dimensionOf } from '@weir/control/reports/dimensions';
import { METRIC_NAMES } from '@weir/control/reports/report-metrics';
import { type ReportRequest, readReportRequest } from '@weir/control/reports/report-request';
import type { Scope } from '@weir/control/reports/report-sql';
import { visitSourceOf } from '@weir/control/reports/visits/visit-source';
import { buildDays } from '@weir/control/visit-slots/build-days';
import { buildMonth, compareMonth, monthsToBuild } from '@weir/control/visit-slots/build-months';
import { CONTENTS, type DayFact } from '@weir/control/visit-slots/built-run';
import { daysHash, MONTH_DIMENSIONS, monthRunOf } from '@weir/control/visit-slots/month-run';
import { DAY_MS } from '../visits/random-visits.ts';
import { useSlotBuilds } from './slot-builds-harness.ts';

// Which reports read the sums of months, and what they answer at the edges of the months (docs/decisions/0062).

const FIRST = Date.UTC(2026, 7, 28);
const SEPTEMBER = Date.UTC(2026, 8, 1);
const OCTOBER = Date.UTC(2026, 9, 1);
const END = Date.UTC(2026, 9, 8);
const { opened, context, insert } = useSlotBuilds();
const dimension = (name: string) => dimensionOf(name) as Dimension;
const deps = () => ({ analytics: opened.analytics, clock: () => END + 60 * DAY_MS });

/** Builds all days. Their number of slots then seems to be much larger, because only reports of large sites read months. */
async function build(site: string, slotsMore = 100_000): Promise<void> {
  const { skipped } = await buildDays(context(), { siteId: site, fromMs: FIRST, toMs: END, rows: 1 });
  expect(skipped).toEqual([]);
  await opened.analytics.change(
    `ALTER TABLE visit_days UPDATE slots = slots + ${slotsMore} WHERE site_id = '${site}' AND slots < 50000`,
  );
}

async function ask(site: string, name: string, query: object = {}) {
  const about = { siteId: site, name: site, domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 0 };
  const asked = { from: '2026-08-29', to: '2026-10-07', filters: [], steps: [], ...query };
  const by = dimension(name);
  const found = await readReportRequest(about as never, asked as never, deps(), { by });
  const { value } = found as { readonly value: ReportRequest };
  const order = { metric: 'visits', direction: 'desc' } as const;
  const part = { by, order, limit: 200, page: 1, metrics: METRIC_NAMES };
  const answer = async (scope: Scope) =>
    (await breakdownReport({ ...value, scope }, part, deps())) as {
      readonly rows: readonly { readonly value: string; readonly visitors: unknown }[];
    };
  const { visits } = value.scope;
  return {
    months: visits.of === 'rows' ? visits.built?.months : undefined,
    answer: await answer(value.scope),
    ofRows: await answer({ ...value.scope, visits: await visitSourceOf(value.scope, opened.analytics) }),
  };
}

test('pages that a visit views only after the month has begun keep their names', async () => {
  const { analytics } = opened;
  const site = 'edge';
  const visits = Array.from({ length: 60 }, (_, nth) => {
    const of = { visitor_id: `v${nth}`, session_id: `s${nth}` };
    return [
      { ...of, pathname: '/start', timestamp: SEPTEMBER - 600_000 },
      { ...of, pathname: `/only/${nth}`, timestamp: SEPTEMBER + 300_000 },
      { visitor_id: `w${nth}`, session_id: `w${nth}`, pathname: '/end', timestamp: OCTOBER - 600_000 },
      { visitor_id: `w${nth}`, session_id: `w${nth}`, pathname: `/late/${nth}`, timestamp: OCTOBER + 300_000 },
    ];
  });
  await insert(site, visits.flat());
  await build(site);
  const [month, ...others] = await monthsToBuild(context(), site);
  expect([month?.first, others]).toEqual([SEPTEMBER / DAY_MS, []]);
  expect(await buildMonth(context(), month as never)).toBe(true);
  const compare = async (query: object) => {
    for (const name of MONTH_DIMENSIONS) {
      const { months, answer, ofRows } = await ask(site, name, query);
      expect([name, months]).toEqual([name, expect.objectContaining({ fromMs: SEPTEMBER, toMs: OCTOBER })]);
      expect([name, query, answer]).toEqual([name, query, ofRows]);
      expect(ofRows.rows.length).toBeGreaterThan(1);
    }
  };
  // In the second period, the rows of 31 August are read, and not its slots.
  for (const query of [{}, { from: '2026-09-01', timezone: 'Asia/Kolkata' }]) await compare(query);

  // The slots of 31 August are now like those of a version of Weir without the visits of pages.
  const older = `site_id = '${site}' AND day = '2026-08-31'`;
  await analytics.change(
    `INSERT INTO visit_days SELECT * REPLACE (build + 1000 AS build, 1 AS contents) FROM visit_days WHERE ${older}`,
  );
  await analytics.change(
    `INSERT INTO visit_slots SELECT * REPLACE (build + 1000 AS build, CAST([], 'Array(UInt8)') AS page_visits) FROM visit_slots WHERE ${older}`,
  );
  await compare({});

  // A month with such a day is not built.
  const inMonth = older.replace('2026-08-31', '2026-09-12');
  await analytics.change(
    `INSERT INTO visit_days SELECT * REPLACE (build + 1000 AS build, 1 AS contents) FROM visit_days WHERE ${inMonth}`,
  );
  expect(await monthsToBuild(context(), site)).toEqual([]);
  expect((await ask(site, 'page')).months).toBeUndefined();
}, 120_000);

test('only reports of many slots read months, and count more than 100 visitors as an estimate', async () => {
  const { analytics } = opened;
  const site = 'large';
  const people = 9_000;
  const hits = Array.from({ length: people }, (_, nth) => ({
    ...{ visitor_id: `v${nth}`, session_id: `s${nth}`, pathname: nth % 100 === 0 ? '/some' : '/' },
    timestamp: FIRST + Math.floor((nth / people) * (END - FIRST)),
  }));
  await insert(site, hits);
  await build(site);
  const [month] = await monthsToBuild(context(), site);
  if (month === undefined) throw new Error('no month');

  // The month has more slots than one statement may read.
  const rows = async () =>
    analytics.select(
      `SELECT dimension, value, finalizeAggregation(visitors) AS visitors, pageviews, events, visits, bounces, seconds, views
       FROM visit_months WHERE site_id = '${site}' AND dimension != '' ORDER BY dimension, value`,
    );
  const inserted = async (slots: number) => {
    await analytics.change(`ALTER TABLE visit_months DELETE WHERE site_id = '${site}'`);
    const by = context();
    let statements = 0;
    const change = (statement: string) => {
      statements++;
      return by.change(statement);
    };
    expect(await buildMonth({ ...by, change }, { ...month, slots })).toBe(true);
    return { statements, rows: await rows() };
  };
  const one = await inserted(2_000_000);
  expect(one.statements).toBe(MONTH_DIMENSIONS.length + 1);
  expect(one.rows).toHaveLength(2 * MONTH_DIMENSIONS.length);
  expect(await inserted(month.slots)).toEqual({ statements: 2 * MONTH_DIMENSIONS.length + 1, rows: one.rows });
  for (const random of [0, 0.99]) expect(await compareMonth(site, SEPTEMBER, analytics, random)).toEqual([]);

  const inPeriod = hits.filter(({ timestamp }) => timestamp >= FIRST + DAY_MS);
  const of = (path: string) => inPeriod.filter(({ pathname }) => pathname === path).length;
  for (const name of MONTH_DIMENSIONS) {
    const { months, answer } = await ask(site, name);
    expect(months?.builds).toHaveLength(1);
    expect(answer.rows).toMatchObject([
      { value: '/', visits: of('/'), visitors: { exact: false, error: 0.01 } },
      { value: '/some', visits: of('/some'), visitors: of('/some') },
    ]);
    const estimate = answer.rows[0]?.visitors as { readonly value: number } | undefined;
    expect(Math.abs(Number(estimate?.value) / of('/') - 1)).toBeLessThan(0.01);
  }
  const others: readonly (readonly [name: string, query: object])[] = [
    ['page', { exact: '1' }],
    ['page', { filters: ['page:is_not:/absent'] }],
    ['page', { bots: 'include' }],
    ['page', { from: '2026-09-02' }],
    ['country', {}],
  ];
  for (const [name, query] of others) {
    const { months, answer, ofRows } = await ask(site, name, query);
    expect([name, query, months]).toEqual([name, query, undefined]);
    expect([name, query, answer]).toEqual([name, query, ofRows]);
  }
  await analytics.change(`ALTER TABLE visit_days UPDATE slots = 1 WHERE site_id = '${site}'`);
  const few = await ask(site, 'page');
  expect(few.months).toBeUndefined();
  expect(few.answer).toEqual(few.ofRows);
}, 120_000);

describe('the months that a report reads', () => {
  const start = (month: number): number => Date.UTC(2026, month, 1) / DAY_MS;
  const fact = (kind: DayFact['kind'], day: number, build: number, hits = 0): DayFact => ({
    ...{ kind, day, build, hits, slots: 1, late: 0, contents: CONTENTS },
  });
  const days = Array.from({ length: start(6) - start(0) }, (_, nth) => fact('build', start(0) + nth, 7 + nth));
  const valid = new Map(days.map((day) => [day.day, day]));
  const hashOf = (month: number): number => daysHash({ first: start(month), end: start(month + 1) }, valid) as number;
  const month = (nth: number, build: number, hits = hashOf(nth)) => fact('month', start(nth), build, hits);
  const runOf = (from: number, to: number, ...facts: readonly DayFact[]) =>
    monthRunOf([...days, ...facts], {
      ...{ fromMs: from * DAY_MS, toMs: to * DAY_MS, builds: [], slots: 1, hasPageVisits: true },
    });
  const run = (from: number, to: number, ...builds: readonly number[]) => ({
    ...{ fromMs: start(from) * DAY_MS, toMs: start(to) * DAY_MS, builds },
  });
  const [all, end] = [start(0), start(6)];

  test('are the longest run of consecutive months', () => {
    expect(runOf(all, end)).toBeUndefined();
    expect(runOf(all, end, month(0, 1), month(2, 3), month(3, 4), month(5, 6))).toEqual(run(2, 4, 3, 4));
    expect(runOf(start(2) + 1, end, month(2, 3), month(3, 4))).toEqual(run(3, 4, 4));
    expect(runOf(all, start(4) - 1, month(2, 3), month(3, 4))).toEqual(run(2, 3, 3));
  });

  test('were made from the present builds of their days, by the newest of several builds', () => {
    expect(runOf(all, end, month(1, 5), month(1, 9), month(1, 8), month(1, 10, hashOf(2)))).toEqual(run(1, 2, 9));
    const again = fact('build', start(1) + 3, 1_000);
    expect(runOf(all, end, month(1, 5), month(2, 6), again)).toEqual(run(2, 3, 6));
    // A late row up to two days before the month.
    expect(runOf(all, end, month(1, 5), month(2, 6), { ...fact('late', start(1) - 2, 0), late: 1 })).toEqual(
      run(2, 3, 6),
    );
  });
});

test('the newest month is built first', async () => {
  const site = 'newest';
  await insert(site, [{ visitor_id: 'v', session_id: 's', pathname: '/', timestamp: FIRST }]);
  await buildDays(context(), { siteId: site, fromMs: Date.UTC(2026, 5, 30), toMs: END, rows: 1 });
  const first = async () => (await monthsToBuild(context(), site, 0)).map((month) => month.first * DAY_MS);
  expect(await first()).toEqual([SEPTEMBER, Date.UTC(2026, 7, 1), Date.UTC(2026, 6, 1)]);
  for (const month of (await monthsToBuild(context(), site, 0)).slice(1, 2)) {
    expect(await buildMonth(context(), month)).toBe(true);
  }
  expect(await first()).toEqual([SEPTEMBER, Date.UTC(2026, 6, 1)]);
});
