import { type BreakdownRequest, breakdownReport } from '@weir/control/reports/breakdown-report';
import { type Dimension, dimensionOf } from '@weir/control/reports/dimensions';
import { ESTIMATE_ERROR, METRIC_NAMES, MONTH_EXACT_MAX } from '@weir/control/reports/report-metrics';
import { type ReportRequest, readReportRequest } from '@weir/control/reports/report-request';
import type { Scope } from '@weir/control/reports/report-sql';
import { readPeriodFacts } from '@weir/control/reports/visits/period-facts';
import { readsSlots } from '@weir/control/reports/visits/slot-rows';
import { visitSourceOf } from '@weir/control/reports/visits/visit-source';
import type { ReportTables } from '@weir/control/steady-tables';
import { type BuildContext, buildDays } from '@weir/control/visit-slots/build-days';
import { buildMonth, compareMonth, monthsToBuild, removeOldMonths } from '@weir/control/visit-slots/build-months';
import { compareDay } from '@weir/control/visit-slots/compare-reports';
import { MONTH_DIMENSIONS, MONTH_SKETCH, monthRunOf, monthsBetween } from '@weir/control/visit-slots/month-run';
import { choicesOf, DAY_MS, DAYS, HOUR_MS, randomVisits, SEED } from '../visits/random-visits.ts';
import { useSlotBuilds } from './slot-builds-harness.ts';

// These tests are about the sums of whole months (docs/decisions/0062).

const COPIES = 6;
/** The first and the last day of `COPIES` times 12 days, which contain September. */
const FIRST = Date.UTC(2026, 7, 22);
const END = Date.UTC(2026, 9, 31);
const SEPTEMBER = Date.UTC(2026, 8, 1);
const OCTOBER = Date.UTC(2026, 9, 1);
const { opened, context, insert } = useSlotBuilds();

const tables = (): ReportTables => opened.analytics;
const depsOf = (analytics: ReportTables) => ({ analytics, clock: () => END + 60 * DAY_MS });
const build = (siteId: string, fromMs = FIRST, toMs = END) => buildDays(context(), { siteId, fromMs, toMs, rows: 1 });
const toBuild = (site: string) => monthsToBuild(context(), site, 0);

async function buildMonths(site: string, by: BuildContext = context()): Promise<void> {
  for (const month of await toBuild(site)) expect(await buildMonth(by, month)).toBe(true);
}

/** Inserts random visits, and builds their days. */
async function fill(site: string): Promise<void> {
  for (let copy = 0; copy < COPIES; copy++) {
    const rows = randomVisits(choicesOf(SEED + copy)).map((row) => ({
      ...row,
      site_id: site,
      timestamp: Number(row.timestamp) - copy * DAYS * DAY_MS,
      ...(row.session_id === undefined ? {} : { session_id: `${row.session_id}-${copy}` }),
    }));
    await insert(site, rows);
  }
  expect((await build(site)).skipped).toEqual([]);
}

/** The request of a report, and its scopes: with the sums of months, with slots only, and with rows only. */
async function scopesOf(site: string, by: Dimension, query: object = {}) {
  const about = { siteId: site, name: site, domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 0 };
  const asked = { from: '2026-08-25', to: '2026-10-29', filters: [], steps: [], ...query };
  const found = await readReportRequest(about as never, asked as never, depsOf(tables()), { by });
  const { value } = found as { readonly value: ReportRequest };
  const { scope } = value;
  const rows: Scope = { ...scope, visits: await visitSourceOf(scope, tables()) };
  return { value, scope, rows, months: await withMonths(scope) };
}

async function withMonths(scope: Scope): Promise<Scope> {
  if (!readsSlots(scope)) throw new Error('the report reads no slots');
  const { built } = scope.visits;
  const months = monthRunOf((await readPeriodFacts(scope, tables())).days, built);
  return { ...scope, visits: { ...scope.visits, built: { ...built, months, isEstimate: true } } };
}

const monthsIn = ({ visits }: Scope) => (visits.of === 'rows' ? visits.built?.months : undefined);

describe(`a breakdown from sums of months equals that from slots and from rows (WEIR_SLOT_SEED=${SEED})`, () => {
  beforeAll(async () => {
    await fill('equal');
    await buildMonths('equal');
  }, 120_000);

  const ORDERS = ['visitors', 'visits', 'pageviews', 'bounce_rate'] as const;
  test.each(MONTH_DIMENSIONS)(
    'by %s',
    async (name) => {
      const by = dimensionOf(name) as Dimension;
      for (const query of [{}, { timezone: 'Asia/Kolkata' }, { from: '2026-09-01', to: '2026-10-01' }]) {
        const { value, scope, rows, months } = await scopesOf('equal', by, query);
        expect(monthsIn(months)).toMatchObject({ fromMs: SEPTEMBER, toMs: OCTOBER });
        for (const metric of ORDERS) {
          for (const direction of ['asc', 'desc'] as const) {
            for (const [limit, page] of [
              [100, 1],
              [2, 2],
            ] as const) {
              const part = { by, order: { metric, direction }, limit, page, metrics: METRIC_NAMES };
              const answer = (scope: Scope) => breakdownReport({ ...value, scope }, part, depsOf(tables()));
              const wanted = await answer(rows);
              expect([query, part.order, await answer(scope)]).toEqual([query, part.order, wanted]);
              expect([query, part.order, await answer(months)]).toEqual([query, part.order, wanted]);
            }
          }
        }
        // Without numbers of visits, and with the values of another period.
        const part = { by, order: { metric: 'visitors', direction: 'desc' }, limit: 3, page: 1 } as const;
        const few = { ...part, metrics: ['visitors', 'pageviews'] as const };
        const alone = (scope: Scope) =>
          breakdownReport({ ...value, scope: { ...scope, withVisits: false } }, few, depsOf(tables()));
        expect([query, await alone(months)]).toEqual([query, await alone(rows)]);
        const compared = (scope: Scope) =>
          breakdownReport(
            { ...value, scope: rows, compared: { comparison: 'previous_year' as never, scope } },
            { ...part, metrics: METRIC_NAMES },
            depsOf(tables()),
          );
        expect([query, await compared(months)]).toEqual([query, await compared(rows)]);
      }
    },
    300_000,
  );

  test('the check of rollups compares the sums of a month too, and finds one that differs', async () => {
    const day = Date.UTC(2026, 8, 12);
    const { analytics } = opened;
    expect(await compareMonth('equal', day, tables())).toEqual([]);
    expect(await compareMonth('equal', OCTOBER, tables())).toBeUndefined();
    const without = await compareDay('equal', OCTOBER + 5 * DAY_MS, tables(), ['stats'], () => 0);
    const compared = await compareDay('equal', day, tables(), ['stats'], () => 0);
    expect(compared).toMatchObject({ reports: (without?.reports ?? 0) + 1, differing: [] });
    await analytics.change(
      "ALTER TABLE visit_months UPDATE pageviews = pageviews + 1 WHERE site_id = 'equal' AND dimension = 'entry' AND value = '/a'",
    );
    expect(await compareMonth('equal', day, tables())).toEqual(['entry']);
    expect((await compareDay('equal', day, tables(), ['stats'], () => 0.5))?.differing).toEqual([
      'breakdown by entry, sums of the month',
    ]);
  }, 60_000);
});

test('a month is built once, and again after the build of one of its days has changed', async () => {
  const { analytics } = opened;
  await fill('again');
  expect(await monthsToBuild(context(), 'again')).toEqual([]);
  expect((await toBuild('again')).map(({ first }) => first * DAY_MS)).toEqual([SEPTEMBER]);
  await buildMonths('again');
  expect(await toBuild('again')).toEqual([]);
  const by = dimensionOf('page') as Dimension;
  const used = async () => monthsIn((await scopesOf('again', by)).months)?.builds;
  const before = await used();
  expect(before).toHaveLength(1);

  const day = Date.UTC(2026, 8, 30);
  await build('again', day, day + DAY_MS);
  expect(await used()).toBeUndefined();
  await buildMonths('again');
  expect(await used()).not.toEqual(before);

  // A late row makes the builds of days invalid, and so the month.
  const late = { timestamp: day + HOUR_MS, pathname: '/late', visitor_id: 'late', session_id: 'late-s' };
  await insert('again', [late]);
  const { scope, rows, value, months } = await scopesOf('again', by);
  expect(monthsIn(months)).toBeUndefined();
  expect(await toBuild('again')).toEqual([]);
  const part: BreakdownRequest = {
    ...{ by, order: { metric: 'visitors', direction: 'desc' }, limit: 100, page: 1, metrics: METRIC_NAMES },
  };
  const answer = (scope: Scope) => breakdownReport({ ...value, scope }, part, depsOf(tables()));
  expect(await answer(scope)).toEqual(await answer(rows));
  await build('again');
  await buildMonths('again');
  expect(await used()).toHaveLength(1);

  // The replaced builds stay for an hour.
  const builds = async () =>
    (
      await analytics.select<{ n: number }>(
        "SELECT toUInt32(uniqExact(build)) AS n FROM visit_months WHERE site_id = 'again'",
      )
    )[0]?.n;
  await removeOldMonths(context(), 'again');
  expect(await builds()).toBe(3);
  await removeOldMonths({ ...context(), clock: () => Date.now() + 2 * HOUR_MS }, 'again');
  expect(await builds()).toBe(1);
  expect(await used()).toHaveLength(1);
}, 120_000);

test('a build that stops, lacks rows or has values twice is never read', async () => {
  const { analytics } = opened;
  await fill('partial');
  const [month] = await toBuild('partial');
  if (month === undefined) throw new Error('no month');
  const stopped = {
    ...context(),
    change: async (statement: string) => {
      if (statement.includes("'exit' AS dimension")) throw new Error('killed');
      await analytics.change(statement);
    },
  };
  await expect(buildMonth(stopped, month)).rejects.toThrow('killed');
  const lacking = {
    ...context(),
    change: async (statement: string) =>
      statement.includes("'entry' AS dimension") ? undefined : analytics.change(statement),
  };
  expect(await buildMonth(lacking, month)).toBe(false);
  expect(await buildMonth(context(), { ...month, builds: month.builds.slice(1) })).toBe(false);
  // Two builds with the same number.
  const same = { ...context(), clock: () => END };
  const twice = {
    ...same,
    change: async (statement: string) => {
      await analytics.change(statement);
      if (statement.includes("'page' AS dimension")) await analytics.change(`${statement} `);
    },
  };
  expect(await buildMonth(twice, month, () => 0.5)).toBe(false);
  expect(await toBuild('partial')).toHaveLength(1);
  await buildMonths('partial');
  await removeOldMonths({ ...context(), clock: () => Date.now() + 2 * HOUR_MS }, 'partial');
  const left = await analytics.select(
    "SELECT toUInt32(uniqExact(build)) AS builds FROM visit_months WHERE site_id = 'partial'",
  );
  expect(left).toEqual([{ builds: 1 }]);
}, 120_000);

test('a report whose months are deleted while it runs reads the slots', async () => {
  const { analytics } = opened;
  await fill('deleted');
  await buildMonths('deleted');
  const by = dimensionOf('page') as Dimension;
  const { value, rows, months } = await scopesOf('deleted', by);
  expect(monthsIn(months)).toBeDefined();
  const order = { metric: 'visitors', direction: 'desc' } as const;
  const part = { by, order, limit: 100, page: 1, metrics: METRIC_NAMES };
  const deleting: ReportTables = {
    ...tables(),
    async userQuery(query, params, options) {
      const where = "site_id = 'deleted'";
      if (query.includes('uniqCombinedMerge')) {
        await analytics.change(`ALTER TABLE visit_months DELETE WHERE ${where} AND dimension = ''`);
        await analytics.change(`ALTER TABLE visit_months DELETE WHERE ${where}`);
      }
      return analytics.userQuery(query, params, options);
    },
  };
  expect(await breakdownReport({ ...value, scope: months }, part, depsOf(deleting))).toEqual(
    await breakdownReport({ ...value, scope: rows }, part, depsOf(tables())),
  );
}, 120_000);

test('sketches of months are exact up to 100 visitors, and differ by less than 1 % above', async () => {
  const visitors = async (count: number, seed: number) => {
    // Half of the visitors return in the next month.
    const [row] = await opened.analytics.select<{ found: string }>(
      `SELECT toString(${MONTH_SKETCH.merge}(sketch)) AS found FROM
       (
         SELECT month, ${MONTH_SKETCH.stateIf}(visitor, true) AS sketch FROM
         (
           SELECT sipHash64(${seed}, number) AS visitor, arrayJoin([number % 12, (number + number % 2) % 12]) AS month FROM numbers(${count})
         ) GROUP BY month
       )`,
    );
    return Number(row?.found);
  };
  for (const count of [1, 20, MONTH_EXACT_MAX]) expect(await visitors(count, 1)).toBe(count);
  for (const count of [101, 4_000, 20_000, 200_000, 3_000_000]) {
    for (let seed = 0; seed < 10; seed++) {
      expect(Math.abs((await visitors(count, seed)) / count - 1)).toBeLessThan(ESTIMATE_ERROR);
    }
  }
}, 60_000);

test('numbers of more than 100 visitors from months are estimates', async () => {
  const hits = Array.from({ length: 151 }, (_, nth) => ({
    ...{ visitor_id: `v${nth}`, session_id: `s${nth}`, pathname: nth < MONTH_EXACT_MAX ? '/few' : '/' },
    timestamp: SEPTEMBER + nth * HOUR_MS,
  }));
  await insert('many', [...hits, ...hits.slice(0, 101).map((hit) => ({ ...hit, pathname: '/many' }))]);
  await build('many');
  await buildMonths('many');
  const by = dimensionOf('page') as Dimension;
  const { value, months, scope } = await scopesOf('many', by);
  const order = { metric: 'visitors', direction: 'desc' } as const;
  const part = { by, order, limit: 9, page: 1, metrics: ['visitors'] } as const;
  const answer = async (scope: Scope) => (await breakdownReport({ ...value, scope }, part, depsOf(tables()))) as object;
  const rows = (many: unknown) => [
    { value: '/many', visitors: many },
    { value: '/few', visitors: 100 },
    { value: '/', visitors: 51 },
  ];
  expect(await answer(months)).toMatchObject({ rows: rows({ value: 101, exact: false, error: ESTIMATE_ERROR }) });
  expect(await answer(scope)).toMatchObject({ rows: rows(101) });
}, 60_000);

test('the months between two days', () => {
  const day = (text: string): number => Date.parse(text) / DAY_MS;
  const between = (from: string, to: string) => monthsBetween(day(from), day(to)).map(({ first, end }) => [first, end]);
  const [january, february, march] = [day('2024-01-01'), day('2024-02-01'), day('2024-03-01')];
  expect(between('2024-01-01', '2024-03-01')).toEqual([
    [january, february],
    [february, march],
  ]);
  expect(between('2024-01-02', '2024-03-01')).toEqual([[february, march]]);
  expect(between('2023-12-31', '2024-02-29')).toEqual([[january, february]]);
  expect(between('2024-02-01', '2024-02-29')).toEqual([]);
});
