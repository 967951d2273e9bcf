import { buildDays } from '@weir/control/visit-slots/build-days';
import { buildMonth, monthsToBuild } from '@weir/control/visit-slots/build-months';
import { batch, useClickhouse } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { buildContextOf } from '../visit-slots/slot-builds-harness.ts';
import { eraseVisitor } from './erase-visitor.ts';

const DAY_MS = 24 * 3600_000;
const MAY = Date.UTC(2026, 4, 1);
const JUNE = Date.UTC(2026, 5, 1);
const JULY = Date.UTC(2026, 6, 1);
const SITE = 'shop';
const opened = useClickhouse();

test('an erasure also removes the months of a build that ends while the erasure waits for inserts', async () => {
  const { analytics } = opened;
  const hit = { site_id: SITE, outcome: 'row', session_id: '' } as const;
  const at = JUNE + 3600_000;
  const old = MAY + 5 * DAY_MS;
  await analytics.insertRecords(
    batch(0, [
      { ...hit, visitor_id: 'zoe-v', session_id: 'zoe-s', pathname: '/zoe', received_at: at, timestamp: at },
      { ...hit, visitor_id: 'max-v', session_id: 'max-s', pathname: '/max', received_at: old, timestamp: old },
    ]),
  );
  const context = buildContextOf(analytics);
  await buildDays(context, { siteId: SITE, fromMs: MAY, toMs: JULY, rows: 1 });
  const build = async (): Promise<void> => {
    for (const month of await monthsToBuild(context, SITE, 0)) await buildMonth(context, month);
  };
  const pages = () =>
    analytics.select("SELECT DISTINCT value AS page FROM visit_months WHERE dimension = 'page' ORDER BY page");
  await eraseVisitor(analytics, SITE, 'zoe-v', {
    async onWait(nth) {
      if (nth !== 2) return;
      await build();
      expect(await pages()).toEqual([{ page: '/max' }, { page: '/zoe' }]);
    },
  });
  // The erased row is on the first day of June, so a visit with it can also have slots in May.
  expect(await analytics.select('SELECT count() AS n FROM visit_months')).toEqual([{ n: 0 }]);
}, 60_000);
