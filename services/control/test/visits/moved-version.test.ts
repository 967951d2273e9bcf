import { readPeriodFacts } from '@weir/control/reports/visits/period-facts';
import { batch, useClickhouse } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const NOON = Date.UTC(2026, 4, 4, 12);
const MINUTE_MS = 60_000;
const opened = useClickhouse();

test('a second late hit of a visitor in the same hour changes the version of the facts, also after a merge', async () => {
  const { analytics } = opened;
  const period = { zone: 'UTC', fromMs: NOON - 3600_000, toMs: NOON + 7200_000 };
  const version = async () => (await readPeriodFacts({ siteId: 'site-1', period }, analytics)).version;
  const lateHit = (nth: number) =>
    analytics.insertRecords(
      batch(nth, [
        {
          ...{ visitor_id: 'v', session_id: 's_0', timestamp: NOON + nth * 20 * MINUTE_MS, visit_stamp: 2 },
          detail: '{"session_moved":true}',
        },
      ]),
    );
  const versions = [await version()];
  for (const nth of [0, 1, 2]) {
    await lateHit(nth);
    // ClickHouse merges the two rows of this visitor and hour in `moved_hours` into one, as it also does by itself.
    for (const table of ['moved_hours', 'visits_computed']) await analytics.change(`OPTIMIZE TABLE ${table} FINAL`);
    versions.push(await version());
  }
  expect(versions).not.toContain(undefined);
  expect(new Set(versions).size).toBe(versions.length);
});
