import { eraseTables } from '@weir/control/erasure/erase-tables';
import { personSql } from '@weir/control/erasure/person-sql';
import { entryOf, erasureHash } from '@weir/domain/erasure/tombstone';
import type { Analytics } from '@weir/ports/analytics';

interface Erasing {
  /** Called each time the erasure waits for inserts, before the wait. `nth`: 1 before it deletes rows, and 2 before it removes builds. */
  readonly onWait?: (nth: number) => Promise<void>;
  readonly change?: (statement: string) => Promise<void>;
}

/** Erases a visitor of a site from the tables of the current database. */
export async function eraseVisitor(
  analytics: Analytics,
  siteId: string,
  visitor: string,
  { onWait, change = (statement) => analytics.change(statement) }: Erasing = {},
): Promise<void> {
  const [live] = await analytics.select<{ name: string }>('SELECT currentDatabase() AS name');
  const erasureId = `of-${visitor}`;
  const entries = [entryOf('v', erasureHash('salt', siteId, 'v', visitor))];
  const tombstone = { siteId, erasureId, part: 0, at: Date.now(), salt: 'salt', whole: false, entries };
  let waits = 0;
  await eraseTables({
    analytics: {
      ...analytics,
      async runningInsertsEnd(database) {
        waits += 1;
        await onWait?.(waits);
        await analytics.runningInsertsEnd(database);
      },
    },
    ...{ database: live?.name ?? '', person: personSql([tombstone]), erasureId, change },
    ...{ count: async () => undefined, begin: async () => Date.now(), clock: Date.now },
  });
}
