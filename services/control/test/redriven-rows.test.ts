import { readRedrivenRows } from '@weir/control/dead-letters/redriven-rows';
import { RECORDS_COLUMNS, RECORDS_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import { batch, useClickhouse } from '../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const opened = useClickhouse();

test('the first record of a redriven dead letter keeps the row of its dead letter in a replay', async () => {
  const detail = (stage: string, more: object = {}) =>
    JSON.stringify({ topic: 'events.raw', partition: 0, offset: 0, stage, error: 'E', payload: '{}', ...more });
  const redriven = { log: 'log-1', partition: 0, offset: 0, attempt: 1, at: 1_764_000_000_000 };
  await opened.analytics.insertRecords(
    batch(0, [
      { outcome: 'dead', reason: 'step_failed', detail: detail('enricher') },
      { outcome: 'dead', reason: 'row_refused', detail: detail('writer') },
      { outcome: 'row', detail: JSON.stringify({ redriven }) },
    ]),
  );
  const rows = await readRedrivenRows({ analytics: opened.analytics, live: 'weir' } as never);
  const row = { rawOffset: 0, version: RECORDS_COLUMNS_VERSION, receivedAt: 0, line: Buffer.from('a row') };
  const stored = rows.row('log-1', 0, row);
  const line = JSON.parse(Buffer.from(stored.line).toString()) as unknown[];
  const values = Object.fromEntries(RECORDS_COLUMNS.map((column, nth) => [column, line[nth]]));
  expect(values.received_at).toBe(stored.receivedAt);
  expect(values).toMatchObject({ outcome: 'dead', reason: 'step_failed', raw_offset: 0, detail: detail('enricher') });
  const other = { ...row, rawOffset: 1 };
  expect(rows.row('log-1', 0, other)).toBe(other);
  expect([0, 1, 2].map((offset) => rows.isHidden('log-1', 0, offset))).toEqual([true, false, false]);
});
