import { breakdownReport } from '@weir/control/reports/breakdown-report';
import { breakdownStatement } from '@weir/control/reports/breakdown-sql';
import { type Dimension, dimensionOf } from '@weir/control/reports/dimensions';
import { METRIC_NAMES } from '@weir/control/reports/report-metrics';
import { type ReportRequest, readReportRequest } from '@weir/control/reports/report-request';
import type { Scope } from '@weir/control/reports/report-sql';
import { visitSourceOf } from '@weir/control/reports/visits/visit-source';
import { buildDays } from '@weir/control/visit-slots/build-days';
import { daysToBuild } from '@weir/control/visit-slots/days-to-build';
import { choicesOf, DAY_MS, DAYS, randomVisits, SEED, T0 } from '../visits/random-visits.ts';
import { useSlotBuilds } from './slot-builds-harness.ts';

// These tests are about the array `page_visits` of slots (docs/decisions/0060).

const BY_PAGE = dimensionOf('page') as Dimension;
/** The first and the last day from which a report of 2026-10-20 to 2026-10-31 can read slots. */
const BUILT = DAYS - 1;
const { opened, context, insert } = useSlotBuilds();

const build = (siteId: string, from = 0, to = DAYS) =>
  buildDays(context(), { siteId, fromMs: T0 + from * DAY_MS, toMs: T0 + to * DAY_MS, rows: 1 });

async function fill(siteId: string): Promise<void> {
  await insert(
    siteId,
    randomVisits(choicesOf(SEED)).map((row) => ({ ...row, site_id: siteId })),
  );
  expect(await build(siteId)).toMatchObject({ days: DAYS, skipped: [] });
}

test.each([1, 500_000])(
  `exactly one slot of each visit counts the visit for a page (%i rows, WEIR_SLOT_SEED=${SEED})`,
  async (rows) => {
    const site = `count${rows}`;
    await fill(site);
    await buildDays(context(), { siteId: site, fromMs: T0, toMs: T0 + DAYS * DAY_MS, rows });
    const { analytics } = opened;
    const current = `site_id = '${site}' AND build IN (SELECT max(build) FROM visit_days WHERE site_id = '${site}' GROUP BY day)`;
    const found = await analytics.select(
      `SELECT toString(day) AS day, page, toUInt32(sum(counted)) AS visits FROM visit_slots ARRAY JOIN pages AS page, page_visits AS counted
       WHERE ${current} GROUP BY day, page HAVING visits > 0 ORDER BY day, page`,
    );
    const wanted = await analytics.select(
      `SELECT toString(toDate(sessions.started_at, 'UTC')) AS day, toString(pathname) AS page, toUInt32(uniqExact(session_id)) AS visits
       FROM events INNER JOIN sessions USING (site_id, session_id)
       WHERE site_id = '${site}' AND bot = '' AND NOT startsWith(event_name, '$')
         AND day >= '2026-10-20' AND day < '2026-11-01' GROUP BY day, page ORDER BY day, page`,
    );
    expect(wanted.length).toBeGreaterThan(DAYS);
    expect(found).toEqual(wanted);
    const [others] = await analytics.select(
      `SELECT toUInt32(countIf(begun = 0 AND has(page_visits, 1))) AS wrong, toUInt32(countIf(length(pages) != length(page_visits))) AS uneven,
         toUInt32(countIf(several AND has(page_visits, 0))) > 0 AS has_repeats FROM visit_slots WHERE ${current}`,
    );
    expect(others).toEqual({ wrong: 0, uneven: 0, has_repeats: 1 });
  },
);

/** The answer of a breakdown by page from slots and from rows, and whether the first one groups no slots by session. */
async function ask(siteId: string, filters: readonly string[]) {
  const { analytics } = opened;
  const deps = { analytics, clock: () => T0 + 60 * DAY_MS };
  const site = { siteId, name: siteId, domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 0 };
  const query = { from: '2026-10-20', to: '2026-10-31', filters, steps: [] };
  const { value } = (await readReportRequest(site as never, query, deps, { by: BY_PAGE })) as {
    readonly value: ReportRequest;
  };
  const part = {
    order: { metric: 'visits', direction: 'desc' },
    ...{ limit: 1000, page: 1, metrics: METRIC_NAMES },
  } as const;
  const answer = (scope: Scope) => breakdownReport({ ...value, scope }, { by: BY_PAGE, ...part }, deps);
  const { scope } = value;
  const built = scope.visits.of === 'rows' ? scope.visits.built : undefined;
  expect(built).toMatchObject({ fromMs: T0, toMs: T0 + BUILT * DAY_MS });
  expect([filters, await answer(scope)]).toEqual([
    filters,
    await answer({ ...scope, visits: await visitSourceOf(scope, analytics) }),
  ]);
  const { sql } = breakdownStatement(scope, BY_PAGE, { ...part, rowsMax: 1, skip: 0 });
  const groupsSlots = /visit_slots[^;]*GROUP BY session_key/.test(sql);
  expect(sql.includes('page_visits')).toBe(!groupsSlots);
  const withoutVisits = breakdownStatement({ ...scope, withVisits: false }, BY_PAGE, { ...part, rowsMax: 1, skip: 0 });
  expect(withoutVisits.sql).not.toContain('page_visits');
  return !groupsSlots;
}

/** Filters on visits and on pages never leave out the slot that counts a visit. Other filters can. */
const FILTERS: readonly (readonly [isByElement: boolean, ...filters: readonly string[]])[] = [
  [true],
  [true, 'channel:is:Direct'],
  [true, 'entry:is_not:/', 'exit:is:/a'],
  [true, 'page:contains:a'],
  [true, 'page:is_not:/', 'source:is:google'],
  [false, 'country:is:DE,FR'],
  [false, 'page:is:/', 'country:is_not:FR'],
  [false, 'hostname:is:a.example', 'channel:is:Direct'],
  [false, 'done_event:is:signup'],
  [false, 'viewed_page:is:/a'],
];

test(`breakdowns by page use the array if no filter can leave out some slots of a visit (WEIR_SLOT_SEED=${SEED})`, async () => {
  await fill('filters');
  for (const [isByElement, ...filters] of FILTERS)
    expect([filters, await ask('filters', filters)]).toEqual([filters, isByElement]);
});

test(`builds without the array stay valid, and are replaced after all other days (WEIR_SLOT_SEED=${SEED})`, async () => {
  const site = 'older';
  const { analytics } = opened;
  await fill(site);
  expect(await ask(site, [])).toBe(true);
  // Replaces the builds of the days 3 and 4 by builds like those of a version of Weir without the array.
  const older = `site_id = '${site}' AND day BETWEEN '2026-10-23' AND '2026-10-24'`;
  await analytics.change(
    `INSERT INTO visit_days SELECT * REPLACE (build + 1000 AS build, 1 AS contents) FROM visit_days WHERE ${older}`,
  );
  await analytics.change(
    `INSERT INTO visit_slots SELECT * REPLACE (build + 1000 AS build, CAST([], 'Array(UInt8)') AS page_visits) FROM visit_slots WHERE ${older}`,
  );
  expect(await ask(site, [])).toBe(false);
  expect(await ask(site, ['channel:is:Direct'])).toBe(false);
  const groups = async () => {
    const found = await daysToBuild(analytics, site, (day) => day < '2026-10-20' || day > '2026-10-31');
    return found.map((days) => ({ ...days, from: (days.fromMs - T0) / DAY_MS, to: (days.toMs - T0) / DAY_MS }));
  };
  await analytics.change(`ALTER TABLE visit_days DELETE WHERE site_id = '${site}' AND day = '2026-10-20'`);
  expect(await groups()).toMatchObject([
    { from: 0, to: 1 },
    { from: 3, to: 5 },
  ]);
  for (const { from, to } of await groups()) await build(site, from, to);
  expect(await ask(site, [])).toBe(true);
  expect(await groups()).toEqual([]);
});
