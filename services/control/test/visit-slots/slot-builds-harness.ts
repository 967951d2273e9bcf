import type { BuildContext } from '@weir/control/visit-slots/build-days';
import type { Analytics } from '@weir/ports/analytics';
import {
  batch,
  type ClickhouseUnderTest,
  type RowFields,
  useClickhouse,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

/** What a build of slots (docs/glossary.md) needs. The default clock is that of the system. */
export function buildContextOf(analytics: Analytics, clock = Date.now): BuildContext {
  return { analytics, clock, assertUnchanged: () => undefined, change: (statement) => analytics.change(statement) };
}

interface SlotBuildsUnderTest {
  readonly opened: ClickhouseUnderTest;
  /** Its clock never returns the same time twice, so that builds have different numbers. */
  readonly context: () => BuildContext;
  readonly insert: (site: string, rows: readonly RowFields[]) => Promise<void>;
}

/** Opens ClickHouse with all tables, in which the tests of a file insert rows and build slots (docs/glossary.md). */
export function useSlotBuilds(): SlotBuildsUnderTest {
  const opened = useClickhouse();
  let next = 0;
  return {
    opened,
    context: () => buildContextOf(opened.analytics, () => Date.now() + next++),
    async insert(site, rows) {
      await opened.analytics.insertRecords(
        batch(
          next,
          rows.map((row) => ({ site_id: site, received_at: row.timestamp, ...row })),
        ),
      );
      next += rows.length;
    },
  };
}
