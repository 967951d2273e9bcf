import { expireTables } from '@weir/control/retention/expire-tables';
import { MONTH_DIMENSIONS } from '@weir/control/visit-slots/month-run';
import { startSlotBuilds } from '@weir/control/visit-slots/start-slot-builds';
import type { Registry } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { eraseVisitor } from '../erasure/erase-visitor.ts';
import { DAY_MS } from '../visits/random-visits.ts';
import { useSlotBuilds } from './slot-builds-harness.ts';

// What removes and builds the sums of months (docs/decisions/0062).

const { opened, insert } = useSlotBuilds();
const SITES = ['shop', 'other'];
const MONTHS = ['2026-03-01', '2026-04-01', '2026-05-01', '2026-06-01'];

/** Inserts sums of each of the months, for each of the sites. */
async function fillMonths(): Promise<void> {
  await opened.analytics.change('TRUNCATE TABLE visit_months');
  for (const site of SITES) {
    for (const month of MONTHS) {
      const rows = ['', ...MONTH_DIMENSIONS].map((name) => `('${site}', '${name}', '${month}', 1, '/of/zoe')`);
      await opened.analytics.change(
        `INSERT INTO visit_months (site_id, dimension, month, build, value) VALUES ${rows.join(', ')}`,
      );
    }
  }
}

async function monthsOf(site: string): Promise<readonly string[]> {
  const rows = await opened.analytics.select<{ month: string; n: number }>(
    `SELECT toString(month) AS month, toUInt32(count()) AS n FROM visit_months WHERE site_id = '${site}' GROUP BY month ORDER BY month`,
  );
  for (const { n } of rows) expect(n).toBe(1 + MONTH_DIMENSIONS.length);
  return rows.map(({ month }) => month);
}

const monthsLeft = async (site: string) =>
  (await opened.analytics.select(`SELECT 1 FROM visit_months WHERE site_id = '${site}'`)).length;

/** The statements that delete rows of `visit_months`. */
const deletions = (statements: readonly string[]): readonly string[] =>
  statements.filter((statement) => /ALTER TABLE \S*visit_months DELETE/.test(statement));

test('an erasure deletes the months near the erased records, first the rows that say that a build is complete', async () => {
  await fillMonths();
  const { analytics } = opened;
  const at = Date.parse('2026-05-01T03:00:00Z');
  const hit = { site_id: 'shop', pathname: '/of/zoe', visitor_id: 'zoe', session_id: 'zoe-s', timestamp: at };
  await insert('shop', [hit, { ...hit, visitor_id: 'max', session_id: 'max-s' }]);
  const statements: string[] = [];
  const change = async (statement: string) => {
    statements.push(statement);
    await analytics.change(statement);
  };
  await eraseVisitor(analytics, 'shop', 'zoe', { change });
  // The visit may have slots on the day before.
  expect(await monthsOf('shop')).toEqual(['2026-03-01', '2026-06-01']);
  expect(await monthsOf('other')).toEqual(MONTHS);
  expect(deletions(statements).map((statement) => statement.endsWith("dimension = ''"))).toEqual([true, false]);
});

test.each([
  ['2026-05-10', ['2026-06-01']],
  ['2026-05-29', ['2026-06-01']],
  // The first two days of June can have lost rows of their visits.
  ['2026-05-30', []],
])('retention up to %s leaves the months %j', async (day, left) => {
  await fillMonths();
  const { analytics } = opened;
  const [live] = await analytics.select<{ name: string }>('SELECT currentDatabase() AS name');
  const statements: string[] = [];
  await expireTables({
    ...{ analytics, database: live?.name ?? '', logId: 'log', clock: Date.now, startedAt: Date.now() },
    ...{ lastBegun: () => undefined, begin: async () => undefined },
    expiry: {
      ...{ expiryId: day, siteIds: ['shop'], before: { events: Date.parse(day) }, ends: [0] },
      ...{ startedAt: Date.now(), phase: 'deleting' },
    },
    async change(statement) {
      statements.push(statement);
      await analytics.change(statement);
    },
  });
  expect(await monthsOf('shop')).toEqual(left);
  expect(await monthsOf('other')).toEqual(MONTHS);
  expect(deletions(statements).map((statement) => statement.endsWith("dimension = ''"))).toEqual([true, false]);
});

test('control builds months of large sites, and builds a month again that differs from its slots', async () => {
  const { analytics } = opened;
  // The month before the last one is closed.
  const now = new Date();
  const [start, end] = [2, 1].map((before) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - before, 1)) as [
    number,
    number,
  ];
  const month = new Date(start).toISOString().slice(0, 10);
  const hits = Array.from({ length: (end - start) / DAY_MS + 2 }, (_, nth) => ({
    ...{ visitor_id: `v${nth}`, session_id: `s${nth}`, pathname: `/p${nth % 3}` },
    timestamp: start + (nth - 0.5) * DAY_MS,
  }));
  await insert('large', hits);
  const nothing = (): undefined => undefined;
  const registry = {
    erasures: () => [],
    expiry: nothing,
    replay: nothing,
    writersPause: nothing,
  } as unknown as Registry;
  const startBuilds = (slotsMin: number) =>
    startSlotBuilds({
      ...{ analytics, registry, ready: Promise.resolve(), clock: Date.now, logger: createLogger('silent') },
      ...{ metrics: createMetrics(), siteRowsMin: 1, slotsMin, everyMs: 100 },
    });
  const builds = () =>
    analytics.select<{ build: string }>(
      `SELECT toString(build) AS build FROM visit_months WHERE site_id = 'large' AND month = '${month}' AND dimension = '' ORDER BY visit_months.build`,
    );
  const days = () => analytics.select("SELECT 1 FROM visit_days WHERE site_id = 'large'");

  const small = startBuilds(hits.length);
  await eventually('the days are built', async () => (await days()).length > 0);
  await small.close();
  expect(await builds()).toEqual([]);

  await analytics.change(
    "INSERT INTO visit_months (site_id, month, build, value) VALUES ('without-slots', '2026-05-01', 1, '/old')",
  );
  const work = startBuilds(hits.length - 1);
  try {
    await eventually(
      'months of a site without slots are removed',
      async () => (await monthsLeft('without-slots')) === 0,
    );
    await eventually('the month is built', async () => (await builds()).length === 1);
    const pages = await analytics.select(
      `SELECT value, toUInt32(visits) AS visits, toUInt32(finalizeAggregation(visitors)) AS people FROM visit_months
       WHERE site_id = 'large' AND month = '${month}' AND dimension = 'page' ORDER BY value`,
    );
    const inMonth = hits.filter(({ timestamp }) => timestamp >= start && timestamp < end);
    const wanted = ['/p0', '/p1', '/p2'].map((value) => {
      const visits = inMonth.filter(({ pathname }) => pathname === value).length;
      return { value, visits, people: visits };
    });
    expect(pages).toEqual(wanted);
    const [before] = await builds();
    await analytics.change("ALTER TABLE visit_months UPDATE visits = visits + 1 WHERE site_id = 'large'");
    await eventually('the month is built again', async () =>
      (await builds()).some(({ build }) => build !== before?.build),
    );
  } finally {
    await work.close();
  }
}, 60_000);
