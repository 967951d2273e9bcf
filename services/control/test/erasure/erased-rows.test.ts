import { putErasedRows } from '@weir/control/erasure/erased-rows';
import { personSql } from '@weir/control/erasure/person-sql';
import { namedEntries } from '@weir/domain/erasure/tombstone';
import { useOpened } from '@weir/testkit/use-opened';
import { openReplayHarness } from '../replay-harness.ts';

jest.setTimeout(300_000);

const weir = useOpened(() => openReplayHarness(10));

interface DeadLetter {
  readonly log: string;
  readonly partition: number;
  readonly offset: number | string;
}

test('an erasure that was interrupted corrects the counts of dead letters without a site too', async () => {
  const [letter] = await weir.analytics.select<DeadLetter>(
    `SELECT log_id AS log, raw_partition AS partition, raw_offset AS offset FROM records
     WHERE outcome = 'dead' AND site_id = '' LIMIT 1`,
  );
  const { log, partition, offset } = letter as DeadLetter;
  const entries = namedEntries('salt', 'shop', ['visitor-1'], []);
  const tombstone = { siteId: 'shop', erasureId: 'e', part: 0, at: weir.clock(), salt: 'salt', whole: false, entries };
  const person = personSql([tombstone], [{ logId: log, partition, offset: Number(offset) }]);
  // The first attempt was killed after the rows `erased` were in `records`, and before the former outcomes were subtracted from the counts.
  await weir.command(
    `INSERT INTO weir.records (outcome, reason, site_id, received_at, log_id, raw_partition, raw_offset)
     SELECT 'erased', 'forgotten', site_id, received_at, log_id, raw_partition, raw_offset FROM weir.records WHERE ${person.records}`,
  );
  await putErasedRows({
    ...{ analytics: weir.analytics, database: 'weir', person, erasureId: 'e', clock: weir.clock },
    change: (statement, token) => weir.analytics.change(statement, token),
    count: async () => undefined,
    begin: async () => weir.clock() - 61_000,
  });
  await weir.analytics.change(`ALTER TABLE weir.records DELETE WHERE ${person.records}`);
  const counts = (of: string) =>
    weir.analytics.select(
      `SELECT site_id, outcome, toInt64(${of}) AS n FROM weir.${of === 'count()' ? 'records' : 'books'}
       GROUP BY site_id, outcome HAVING n != 0 ORDER BY site_id, outcome`,
    );
  const stored = await counts('count()');
  expect(stored).toContainEqual(expect.objectContaining({ site_id: '', outcome: 'erased' }));
  expect(await counts('sum(records)')).toEqual(stored);
});
