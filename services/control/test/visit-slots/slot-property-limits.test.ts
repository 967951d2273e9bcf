import { buildDays } from '@weir/control/visit-slots/build-days';
import { startSlotBuilds } from '@weir/control/visit-slots/start-slot-builds';
import { DependencyError } from '@weir/domain/errors';
import type { Registry } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { useClickhouse } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { buildContextOf } from './slot-builds-harness.ts';

const DAY_MS = 86_400_000;
const T0 = Date.UTC(2026, 4, 4);
const opened = useClickhouse();

/** Inserts events of one day. `properties`: SQL of their properties as JSON. The column `number` counts the rows. */
const insert = (site: string, rows: number, properties: string): Promise<void> =>
  opened.analytics.change(
    `INSERT INTO records (outcome, log_id, raw_offset, site_id, source, type, event_name, event_id, visitor_id, session_id, timestamp, pathname, properties)
     SELECT 'row', '${site}', number, '${site}', 'collect', 'event', 'buy', concat('${site}', toString(number)), concat('v', toString(number % 1000)),
       concat('s', toString(number % 1000)), fromUnixTimestamp64Milli(toInt64(${T0}) + number * 100) AS timestamp, '/',
       CAST(${properties}, 'JSON(max_dynamic_paths = 64, max_dynamic_types = 4)')
     FROM numbers(${rows})`,
  );

const built = (site: string) =>
  opened.analytics.select(
    `SELECT toUInt32(length(property_names)) AS names, toUInt32(length(properties_left_out)) AS left_out, lists_properties AS lists
     FROM visit_days WHERE site_id = '${site}'`,
  );

test.each([
  ['names', 140_000, `concat('{"', leftPad(toString(number % 64), 256, 'x'), '": "a', toString(number % 10), '"}')`],
  ['values', 20_000, `concat('{"short": "a", "long": "', repeat('z', 20000), toString(number % 100), '"}')`],
])('a day with long %s of properties can be built with the memory of a build', async (site, rows, properties) => {
  const { analytics } = opened;
  await insert(site, rows, properties);
  const days = { siteId: site, fromMs: T0, toMs: T0 + DAY_MS, rows };
  expect(await buildDays(buildContextOf(analytics), days)).toMatchObject({ days: 1, skipped: [] });
  const [names, left_out] = site === 'names' ? [64, 0] : [1, 1];
  expect(await built(site)).toEqual([{ names, left_out, lists: true }]);
});

test('if ClickHouse refuses to build days with custom properties, they are built without', async () => {
  const { analytics } = opened;
  await insert('refused', 10, `'{"plan": "pro"}'`);
  const select: typeof analytics.select = (query, params) =>
    query.includes('JSONAllPaths')
      ? Promise.reject(new DependencyError('analytics_refused', 'memory limit exceeded'))
      : analytics.select(query, params);
  const nothing = () => undefined;
  const builds = startSlotBuilds({
    analytics: { ...analytics, select },
    registry: { erasures: () => [], expiry: nothing, replay: nothing, writersPause: nothing } as unknown as Registry,
    ...{ ready: Promise.resolve(), clock: Date.now, logger: createLogger('silent'), metrics: createMetrics() },
    siteRowsMin: 1,
  });
  const rows = await eventually('the day is built', async () => {
    const found = await built('refused');
    return found.length > 0 && found;
  });
  expect(rows[0]).toEqual({ names: 0, left_out: 0, lists: false });
  await builds.close();
});
