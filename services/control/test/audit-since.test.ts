import { readCheckpointsBefore, storeCheckpoints } from '@weir/control/audit/audit-checkpoints';
import { auditReportSince, readBooksSince } from '@weir/control/audit/audit-since';
import {
  createInsert,
  type RowFields,
  useClickhouse,
} from '../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const HOUR_MS = 3_600_000;
/** The table forgets checkpoints after 90 days, so the tests use the present time. */
const NOW = Date.now();
const LOG = 'log-1';

const opened = useClickhouse();
const insert = createInsert(opened);

const store = (partition: number, offset: number, hoursAgo: number): Promise<void> =>
  storeCheckpoints(opened.analytics, LOG, [{ partition, offset, checkedAt: NOW - hoursAgo * HOUR_MS }], false);

/** The report about one partition, whose log ends at `end`. */
async function since(partition: number, end: number, hours: number, isErasing = false) {
  const books = await readBooksSince(opened.analytics, LOG, NOW - hours * HOUR_MS);
  const own = <Row extends { readonly partition: number }>(rows: readonly Row[]): readonly Row[] =>
    rows.filter((row) => row.partition === partition);
  const stored = books.above.stored.filter((row) => row.raw_partition === partition);
  const counts = books.above.counts.filter(({ site_id }) => site_id === `site-of-${partition}`);
  const part = { ...books, counted: own(books.counted), above: { stored, counts } };
  return auditReportSince(LOG, [{ partition, end }], part, isErasing);
}

const fill = (partition: number, offsets: readonly number[], fields: RowFields = {}): Promise<void> =>
  insert(partition, offsets, { site_id: `site-of-${partition}`, ...fields });

test('the last checkpoint at or before the time is used, and no checkpoint of another log', async () => {
  await store(9, 10, 3);
  await store(9, 20, 2);
  await store(9, 30, 1);
  const offsets = async (hours: number, log = LOG) =>
    (await readCheckpointsBefore(opened.analytics, log, NOW - hours * HOUR_MS)).map(({ offset }) => offset);
  expect([await offsets(1.5), await offsets(2), await offsets(4), await offsets(0, 'log-2')]).toEqual([
    [20],
    [20],
    [],
    [],
  ]);
});

test('only the records from the checkpoint on are counted', async () => {
  await fill(0, [0, 1, 2, 3]);
  await store(0, 4, 2);
  await fill(0, [4, 5]);
  await fill(0, [6], { outcome: 'dropped', reason: 'bot' });
  const report = await since(0, 9, 1);
  expect(report).toMatchObject({
    balanced: true,
    partitions: [
      {
        ...{
          partition: 0,
          compared_from: 4,
          checkpoint_at: new Date(NOW - 2 * HOUR_MS).toISOString(),
          received: 5,
          outcomes: 3,
        },
        ...{ in_flight: 2, missing: 0, repeated: 0, balanced: true },
      },
    ],
    totals: { received: 5, stored: 2, dropped: { bot: 1 }, in_flight: 2 },
  });
  // No checkpoint is at least three hours old, so all raw offsets are compared.
  expect(await since(0, 9, 3)).toMatchObject({
    balanced: true,
    partitions: [{ compared_from: 0, checkpoint_at: null, received: 9, outcomes: 7 }],
  });
});

test('above the checkpoint, a missing and a repeated row are found even if their numbers balance', async () => {
  await fill(1, [0, 1]);
  await store(1, 2, 2);
  await fill(1, [2, 4]);
  await fill(1, [4], { event_id: 'again' });
  expect(await since(1, 5, 1)).toMatchObject({
    balanced: false,
    partitions: [{ missing: 1, repeated: 1, balanced: false }],
  });
});

test('below the checkpoint, the number of rows must be the number of raw offsets', async () => {
  await fill(2, [0, 1, 2, 3]);
  await store(2, 4, 2);
  await fill(2, [4]);
  await opened.analytics.change('ALTER TABLE records DELETE WHERE raw_partition = 2 AND raw_offset = 1');
  expect(await since(2, 5, 1)).toMatchObject({ balanced: false, partitions: [{ missing: 1, repeated: 0 }] });
  await fill(2, [1, 1], { event_id: 'again' });
  expect(await since(2, 5, 1)).toMatchObject({ balanced: false, partitions: [{ missing: 0, repeated: 1 }] });
  // While an erasure deletes rows, a raw offset can be stored twice.
  expect(await since(2, 5, 1, true)).toMatchObject({ balanced: true });
});

test('rows that are lost at the end are missing, and not in flight', async () => {
  await fill(3, [0, 1, 2]);
  await store(3, 3, 2);
  await opened.analytics.change('ALTER TABLE records DELETE WHERE raw_partition = 3 AND raw_offset >= 1');
  expect(await since(3, 4, 1)).toMatchObject({
    balanced: false,
    partitions: [{ missing: 2, repeated: 0, in_flight: 1 }],
  });
});

test('without rows and without checkpoints, everything is in flight', async () => {
  const books = await readBooksSince(opened.analytics, 'log-without-rows', NOW);
  expect(auditReportSince('log-without-rows', [{ partition: 0, end: 2 }], books, false)).toMatchObject({
    balanced: true,
    totals: { received: 2, in_flight: 2 },
  });
});
