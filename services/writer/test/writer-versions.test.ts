import { RECORDS_COLUMNS, RECORDS_COLUMNS_BY_VERSION } from '@weir/domain/records/records-columns';
import type { RecordsBatch } from '@weir/ports/analytics';
import { eventually } from '@weir/testkit/eventually';
import { range, rows, useHarness } from './writer-harness.ts';

const { engine, harness } = useHarness();

test('records of two versions of the column list are in different inserts', async () => {
  const batches: RecordsBatch[] = [];
  const { analytics } = engine;
  await harness.put(range(0, 3), { version: 1 });
  await harness.put(range(3, 6));
  const writer = await harness.start({
    analytics: {
      ...analytics,
      async insertRecords(batch) {
        batches.push(batch);
        await analytics.insertRecords(batch);
      },
    },
  });
  await harness.caughtUp();
  await writer.close();
  expect(batches.map(({ columns, lines }) => [columns, lines.length])).toEqual([
    [RECORDS_COLUMNS_BY_VERSION[1], 3],
    [RECORDS_COLUMNS, 3],
  ]);
  expect(await harness.stored()).toEqual(rows(6));
});

test('an unknown version of the column list stops the partition', async () => {
  await harness.put(range(0, 3), { version: 999 });
  const writer = await harness.start();
  const alarm = await eventually('the alarm', () => writer.status()[0]?.alarm);
  expect(alarm).toContain('column list 999');
  await writer.close();
});
