import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { readFilters } from '../../src/reports/filter.ts';
import type { AskedScope } from '../../src/reports/report-sql.ts';
import { choicesOf, DAY_MS, DAYS, randomVisits, SITE, T0 } from './random-visits.ts';

export const PERIOD = { zone: 'UTC', fromMs: T0, toMs: T0 + DAYS * DAY_MS };

/** Opens tables that are filled with `randomVisits`, for the tests of one file. */
export function useRandomTables() {
  let opened: ClickhouseUnderTest;
  beforeAll(async () => {
    opened = await openClickhouseUnderTest();
    await opened.analytics.migrate();
    await opened.analytics.insertRecords(batch(0, randomVisits(choicesOf(1))));
  }, 60_000);
  afterAll(async () => {
    await opened?.close();
  });

  async function selected(): Promise<number> {
    const [row] = await opened.analytics.select<{ value: string }>(
      "SELECT value FROM system.events WHERE event = 'SelectedRows'",
    );
    return Number(row?.value);
  }
  return {
    analytics: () => opened.analytics,
    /** The number of rows that ClickHouse reads during the work. */
    async readRows(work: () => Promise<unknown>): Promise<number> {
      const before = await selected();
      await work();
      return (await selected()) - before;
    },
  };
}

export function scopeOf(texts: readonly string[]): AskedScope {
  const filters = readFilters(texts);
  if ('problem' in filters) throw new Error(filters.problem);
  return { siteId: SITE, period: PERIOD, withBots: false, filters: filters.value };
}
