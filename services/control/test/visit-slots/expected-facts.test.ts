import { askStats } from '@weir/control/reports/stats-report';
import { createSteadyTables } from '@weir/control/steady-tables';
import { buildDays } from '@weir/control/visit-slots/build-days';
import type { Site } from '@weir/domain/registry/site';
import { useSlotBuilds } from './slot-builds-harness.ts';

const DAY_MS = 24 * 3600_000;
const T0 = Date.UTC(2026, 4, 4);
const SITE: Site = { siteId: 'shop', name: 'shop', domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 1 };
const { opened, context, insert } = useSlotBuilds();

test('after a late hit, all reports that are requested at the same time include it, even if the facts were the same before', async () => {
  const hit = (visit: string, at: number) => ({ visitor_id: visit, session_id: visit, pathname: '/', timestamp: at });
  await insert(
    SITE.siteId,
    Array.from({ length: 10 }, (_, day) => hit(`v${day}`, T0 + day * DAY_MS + 3600_000)),
  );
  await buildDays(context(), { siteId: SITE.siteId, fromMs: T0, toMs: T0 + 10 * DAY_MS, rows: 10 });
  const tables = createSteadyTables(opened.analytics, Date.now);
  const visitors = (pathname: string) =>
    tables.read(async (analytics) => {
      const query = { from: '2026-05-04', to: '2026-05-12', filters: [`page:is_not:${pathname}`], steps: [] };
      const stats = await askStats(SITE, query, undefined, { analytics, clock: Date.now });
      return 'problem' in stats ? stats.problem : stats.value.totals.visitors;
    });
  const together = () => Promise.all(['/a', '/b', '/c', '/d'].map(visitors));
  for (let times = 0; times < 3; times++) expect(await together()).toEqual([9, 9, 9, 9]);
  await insert(SITE.siteId, [hit('late', T0 + 5 * DAY_MS)]);
  expect(await together()).toEqual([10, 10, 10, 10]);
  expect(await together()).toEqual([10, 10, 10, 10]);
});
