import { join } from 'node:path';
import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { keepOldRollups } from '@weir/control/replay/swap/old-rollups';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { batch, openEmbeddedUnderTest } from '../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const SHADOW = 'weir_shadow';

test('a flag of a visit keeps whether it belongs to a row', async () => {
  const opened = await openEmbeddedUnderTest();
  const { url, username, password } = opened.clickhouse;
  const migrationsDir = join(__dirname, '../../../schemas/clickhouse');
  const other = openClickhouseAnalytics({ url, username, password, migrationsDir, database: SHADOW });
  try {
    const live = opened.analytics;
    await Promise.all([live.migrate(), other.migrate()]);
    const row = { site_id: 'shop', visitor_id: 'v', session_id: 's', timestamp: Date.UTC(2026, 4, 4), visit_stamp: 2 };
    for (const tables of [live, other]) await tables.insertRecords(batch(0, [row]));
    await live.change("INSERT INTO visits_computed (site_id, day, session_id) VALUES ('shop', '2026-05-05', 'other')");
    await keepOldRollups({ analytics: live, shadow: { live: 'weir', shadow: SHADOW } as ShadowTables }, 'token');
    const flags = await other.select(
      'SELECT session_id, toUInt8(min(by_row)) AS by_row FROM visits_computed GROUP BY session_id ORDER BY session_id',
    );
    expect(flags).toEqual([
      { session_id: 'other', by_row: 0 },
      { session_id: 's', by_row: 1 },
    ]);
  } finally {
    await other.close();
    await opened.close();
  }
}, 60_000);
