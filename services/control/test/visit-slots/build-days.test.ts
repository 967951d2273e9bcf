import type { Scope } from '@weir/control/reports/report-sql';
import { statsStatement } from '@weir/control/reports/stats-sql';
import { visitSourceOf } from '@weir/control/reports/visits/visit-source';
import { type BuildContext, buildDays, type FoundAhead, removeOldSlots } from '@weir/control/visit-slots/build-days';
import { builtRun } from '@weir/control/visit-slots/built-run';
import { compareDay, someBuiltDays } from '@weir/control/visit-slots/compare-reports';
import { daysToBuild, sitesToBuild } from '@weir/control/visit-slots/days-to-build';
import { type SlotBuildsDeps, startSlotBuilds } from '@weir/control/visit-slots/start-slot-builds';
import { DependencyError } from '@weir/domain/errors';
import type { Registry } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import type { RowFields } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { useSlotBuilds } from './slot-builds-harness.ts';

const DAY_MS = 24 * 3600_000;
const T0 = Date.UTC(2026, 4, 4);
const { opened, context, insert } = useSlotBuilds();

const hit = (session: string, at: number, fields: RowFields = {}): RowFields => ({
  visitor_id: `v-${session}`,
  session_id: session,
  pathname: '/a',
  hostname: 'example.com',
  country: 'DE',
  channel: 'Direct',
  timestamp: at,
  ...fields,
});
/** Each day has two visits, one of which continues after midnight. It also has server events with and without a session ID, and a bot. */
function history(days: number): readonly RowFields[] {
  const rows: RowFields[] = [];
  for (let day = 0; day < days; day++) {
    const at = T0 + day * DAY_MS;
    rows.push(
      hit(`short${day}`, at + 3600_000),
      hit(`short${day}`, at + 3600_500, { pathname: '/b', country: 'FR' }),
      hit(`short${day}`, at + 3600_900, { type: 'event', event_name: 'signup' }),
      hit(`short${day}`, at + 3601_000, { type: 'event', event_name: '$engagement' }),
      hit(`night${day}`, at + 23.9 * 3600_000, { channel: 'Search' }),
      hit(`night${day}`, at + 24.2 * 3600_000, { pathname: '/c', visitor_id: `v-short${day}` }),
      hit('', at + 7200_000, { visitor_id: 'server', source: 'server', type: 'event', event_name: 'paid' }),
      hit(`only-server${day}`, at + 7200_000, {
        source: 'server',
        type: 'event',
        event_name: 'paid',
        channel: 'Email',
      }),
      hit(`bot${day}`, at + 100, { bot: 'Googlebot' }),
    );
  }
  return rows;
}

/** The numbers of a period: computed from the slots (docs/glossary.md), and by the report that reads rows. */
async function compare(
  siteId: string,
  fromMs: number,
  toMs: number,
): Promise<{ readonly slots: object; readonly rows: object }> {
  const { analytics } = opened;
  const period = { zone: 'UTC', fromMs, toMs };
  const run = await builtRun(siteId, { ...period, toMs: toMs + DAY_MS }, analytics);
  expect(run).toMatchObject({ fromMs, toMs });
  const counts = `uniqExactIf(visitor_key, visitor_key != sipHash64('') AND hits) AS visitors, countIf(begun = 2) AS visits,
    sumIf(pageviews, hits) AS pageviews, sumIf(events, hits) AS events,
    sumIf(bounces, begun = 2) AS bounces, sumIf(seconds, begun = 2) AS seconds, sumIf(views, begun = 2) AS views`;
  const [slots] = (
    await analytics.userQuery(
      `SELECT ${counts} FROM visit_slots WHERE site_id = {site:String} AND build IN {builds:Array(UInt64)}`,
      { site: siteId, builds: run?.builds },
    )
  ).rows;
  const asked = { siteId, period, withBots: false, filters: [] };
  const scope: Scope = { ...asked, visits: await visitSourceOf(asked, analytics) };
  const { sql, params } = statsStatement(scope, [fromMs]);
  const { is_total: _total, bucket: _bucket, ...rows } = (await analytics.userQuery(sql, params)).rows.at(-1) ?? {};
  return { slots: numbers(slots), rows: numbers(rows) };
}
const numbers = (row: object | undefined): object =>
  Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)]));

async function count(table: string, site: string): Promise<number | undefined> {
  const query = `SELECT toUInt32(count()) AS n FROM ${table} WHERE site_id = '${site}'`;
  return (await opened.analytics.select<{ n: number }>(query))[0]?.n;
}
const nothing = (): undefined => undefined;
const startBuilds = (deps: Partial<SlotBuildsDeps>) =>
  startSlotBuilds({
    analytics: opened.analytics,
    registry: { erasures: () => [], expiry: nothing, replay: nothing, writersPause: nothing } as unknown as Registry,
    ...{ ready: Promise.resolve(), clock: Date.now, logger: createLogger('silent'), metrics: createMetrics() },
    siteRowsMin: 1_000_000,
    ...deps,
  });

const build = (siteId: string, fromDay: number, toDay: number, rows = 1) =>
  buildDays(context(), { siteId, fromMs: T0 + fromDay * DAY_MS, toMs: T0 + toDay * DAY_MS, rows });

test.each([1, 500_000])('the slots of built days have the numbers of the rows (%i rows)', async (rows) => {
  const site = `s${rows}`;
  await insert(site, history(25));
  expect(await build(site, 1, 5, rows)).toMatchObject({ days: 4, skipped: [] });
  const compared = await compare(site, T0 + DAY_MS, T0 + 5 * DAY_MS);
  expect(compared.rows).toMatchObject({ visits: 8, pageviews: 16, events: 12 });
  expect(compared.slots).toEqual(compared.rows);
});

test('a visit that began on a built day also has the slots of its rows on the next day', async () => {
  await insert('night', history(3));
  await build('night', 1, 2);
  const { rows } = await opened.analytics.userQuery(
    `SELECT toString(slot) AS slot, hits, begun, several, pages, channel, session_key != 0 AS has_key FROM visit_slots
     WHERE site_id = 'night' AND channel = 'Search' ORDER BY slot`,
    {},
  );
  expect(rows).toEqual([
    { slot: '2026-05-05 00:00:00', hits: true, begun: 0, several: false, pages: ['/c'], channel: 'Search', has_key: 0 },
    {
      slot: '2026-05-05 23:30:00',
      hits: true,
      begun: expect.any(Number),
      several: true,
      pages: ['/a'],
      channel: 'Search',
      has_key: 1,
    },
    {
      slot: '2026-05-06 00:00:00',
      hits: false,
      begun: expect.any(Number),
      several: true,
      pages: ['/c'],
      channel: 'Search',
      has_key: 1,
    },
  ]);
  expect(Number(rows[1]?.begun) + Number(rows[2]?.begun)).toBe(3);
});

test('a late row ends the validity of the builds near it, and a flag does too', async () => {
  await insert('late', history(10));
  await build('late', 0, 10);
  const run = () => builtRun('late', { zone: 'UTC', fromMs: T0, toMs: T0 + 20 * DAY_MS }, opened.analytics);
  expect(await run()).toMatchObject({ fromMs: T0, toMs: T0 + 10 * DAY_MS });
  await insert('late', [hit('later', T0 + 8 * DAY_MS + 1)]);
  expect(await run()).toMatchObject({ fromMs: T0, toMs: T0 + 6 * DAY_MS });
  expect(await daysToBuild(opened.analytics, 'late', (day) => day > '2026-06')).toMatchObject([
    { fromMs: T0 + 6 * DAY_MS },
  ]);
  await build('late', 6, 10);
  expect(await run()).toMatchObject({ fromMs: T0, toMs: T0 + 10 * DAY_MS });
  await opened.analytics.change(
    "INSERT INTO visits_computed (site_id, day, session_id) VALUES ('late', '2026-05-05', 'x')",
  );
  expect(await run()).toMatchObject({ fromMs: T0 + 4 * DAY_MS, toMs: T0 + 10 * DAY_MS });
  expect(await build('late', 0, 4)).toMatchObject({ days: 0 });
});

test('a day with a visit of more than two days, or near expired rows, is not built', async () => {
  await insert('long', [...history(12), ...[2, 2.9, 3.8, 4.5].map((day) => hit('long', T0 + day * DAY_MS))]);
  await insert('long', [{ outcome: 'expired', reason: 'events', timestamp: T0 + 9.5 * DAY_MS }]);
  const { days, skipped } = await build('long', 0, 12);
  expect([...skipped].sort()).toEqual(
    [6, 7, 8, 11, 12, 13, 14, 15].map((day) => `2026-05-${String(day).padStart(2, '0')}`),
  );
  expect(days).toBe(4);
});

test('reports from slots are compared with reports from rows', async () => {
  await insert('compared', history(4));
  await build('compared', 0, 4);
  const { analytics } = opened;
  const days = await someBuiltDays('compared', 10, analytics);
  expect([...days].sort()).toEqual([0, 1, 2, 3].map((day) => T0 + day * DAY_MS));
  const day = '2026-05-06';
  const compared = await compareDay('compared', Date.parse(day), analytics);
  expect(compared).toMatchObject({ site_id: 'compared', day, reports: expect.any(Number), differing: [] });
  expect(compared?.reports).toBeGreaterThan(20);
  await analytics.change(
    `INSERT INTO visit_slots (site_id, day, build, slot, hits, pageviews, country)
     SELECT site_id, day, max(visit_days.build), toDateTime(day, 'UTC'), true, 1, 'XX' FROM visit_days WHERE site_id = 'compared' AND day = '${day}' GROUP BY ALL`,
  );
  const wrong = await compareDay('compared', Date.parse(day), analytics, ['stats', 'country', 'page']);
  expect(wrong?.differing).toEqual(['stats', 'breakdown by country']);
  expect(await compareDay('compared', T0 + 20 * DAY_MS, analytics)).toBeUndefined();
});

test('old slots are removed, and small sites have no rollup', async () => {
  await insert('again', history(3));
  await build('again', 0, 3);
  const slots = async () => (await count('visit_slots', 'again')) ?? 0;
  const once = await slots();
  await build('again', 0, 3);
  expect(await slots()).toBe(2 * once);
  expect(await removeOldSlots(context(), 'again', new Map())).toBe(0);
  const later = { ...context(), clock: () => Date.now() + 2 * 3600_000 };
  expect(await removeOldSlots(later, 'again', new Map())).toBe(once);
  expect(await slots()).toBe(once);
  expect(await sitesToBuild(opened.analytics)).toEqual([]);
  expect(await sitesToBuild(opened.analytics, 24)).toContain('again');
});

test('days that were built while a clock was ahead can be built again, and their old slots are removed', async () => {
  const site = 'ahead';
  await insert(site, history(3));
  const at = (days: number): BuildContext => ({ ...context(), clock: () => context().clock() + days * DAY_MS });
  const buildAt = (days: number) => buildDays(at(days), { siteId: site, fromMs: T0, toMs: T0 + 3 * DAY_MS, rows: 1 });
  const run = () => builtRun(site, { zone: 'UTC', fromMs: T0, toMs: T0 + 20 * DAY_MS }, opened.analytics);
  const foundAhead: FoundAhead = new Map();
  const removeOld = (days: number) => removeOldSlots(at(days), site, foundAhead);
  const { slots } = await buildAt(0);
  await buildAt(30);
  expect(await removeOld(0)).toBe(0);
  expect(await removeOld(1)).toBe(slots);

  await insert(site, [hit('later', T0 + DAY_MS + 1)]);
  expect(await run()).toBeUndefined();
  const again = await buildAt(0);
  expect(await run()).toMatchObject({ fromMs: T0, toMs: T0 + 3 * DAY_MS, slots: again.slots });
  expect(await buildAt(0)).toEqual(again);
  expect(await run()).toMatchObject({ fromMs: T0, toMs: T0 + 3 * DAY_MS, slots: again.slots });
  expect(await removeOld(0)).toBe(0);
  expect(await removeOld(1 / 48)).toBe(0);
  expect(foundAhead.size).toBe(1);
  expect(await removeOld(2)).toBe(slots + again.slots);
  expect(await removeOld(2)).toBe(0);
  expect(foundAhead.size).toBe(0);
  expect(await run()).toMatchObject({ fromMs: T0, toMs: T0 + 3 * DAY_MS, slots: again.slots });
});

test('reports do not read days that were built before they were closed, and these builds are removed', async () => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const early = { siteId: 'early', fromMs: today - 6 * DAY_MS, toMs: today + 3 * DAY_MS };
  expect(await buildDays(context(), { ...early, rows: 1 })).toMatchObject({ days: 9 });
  const run = await builtRun('early', { zone: 'UTC', ...early }, opened.analytics);
  expect(run).toMatchObject({ fromMs: early.fromMs, toMs: today - 3 * DAY_MS });
  const builds = startBuilds({});
  await eventually('the builds are removed', async () => (await count('visit_days', 'early')) === 3);
  await builds.close();
});

test('a site whose days ClickHouse refuses does not stop the builds of other sites', async () => {
  for (const site of ['refused', 'sound']) await insert(site, history(25));
  const { analytics } = opened;
  const problems: unknown[] = [];
  const builds = startBuilds({
    analytics: {
      ...analytics,
      change: (statement) =>
        statement.includes("'refused'")
          ? Promise.reject(
              new DependencyError('analytics_unavailable', 'Query memory limit exceeded: would use 12 MiB'),
            )
          : analytics.change(statement),
    },
    logger: { ...createLogger('silent'), error: (fields: unknown) => problems.push(fields), debug: nothing } as never,
    siteRowsMin: 150,
  });
  const days = async (site: string) => (await someBuiltDays(site, 30, analytics)).length;
  const isTried = () => problems.some((problem) => (problem as { site?: string }).site === 'refused');
  await eventually('both sites are tried', async () => isTried() && (await days('sound')) > 5);
  await builds.close();
  expect(await days('refused')).toBe(0);
  expect(problems).toContainEqual({ site: 'refused', problem: expect.stringContaining('memory') });
});

test('old slots of a site with few rows are removed', async () => {
  await insert('few', history(3));
  await build('few', 0, 3);
  expect(await count('visit_slots', 'few')).toBeGreaterThan(0);
  await opened.analytics.change("ALTER TABLE visit_days DELETE WHERE site_id = 'few'");
  const builds = startBuilds({ clock: () => Date.now() + 2 * 3600_000 });
  await eventually('the slots are removed', async () => (await count('visit_slots', 'few')) === 0);
  await builds.close();
});
