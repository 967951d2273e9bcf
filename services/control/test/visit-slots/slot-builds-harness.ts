import type { BuildContext } from '@weir/control/visit-slots/build-days';
import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
  type RowFields,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

/** A ClickHouse with all tables, in which a test inserts rows and builds slots (docs/glossary.md). */
export interface SlotBuildsUnderTest {
  readonly opened: ClickhouseUnderTest;
  /** Its clock never returns the same time twice, so that builds have different numbers. */
  readonly context: BuildContext;
  readonly insert: (site: string, rows: readonly RowFields[]) => Promise<void>;
}

export async function openSlotBuilds(): Promise<SlotBuildsUnderTest> {
  const opened = await openClickhouseUnderTest();
  const { analytics } = opened;
  await analytics.migrate();
  let next = 0;
  const change = (statement: string) => analytics.change(statement);
  return {
    opened,
    context: { analytics, clock: () => Date.now() + next++, assertUnchanged: () => undefined, change },
    async insert(site, rows) {
      await analytics.insertRecords(
        batch(
          next,
          rows.map((row) => ({ site_id: site, received_at: row.timestamp, ...row })),
        ),
      );
      next += rows.length;
    },
  };
}
