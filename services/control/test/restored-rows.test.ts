import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import { entryOf, erasureHash, type Tombstone } from '@weir/domain/erasure/tombstone';
import { decodeRawRecord } from '@weir/domain/records/raw-record';
import type { AppendOutcome, AppendRecord, EventLog } from '@weir/ports/event-log';
import { SETTLE_MS } from '../src/imports/append-result.ts';
import { createRestoredRows } from '../src/imports/restored-rows.ts';
import type { SteadyTables } from '../src/steady-tables.ts';

const ROW: DumpedRow = {
  ...{
    values: { properties: '{}' },
    outcome: 'row',
    eventId: 'e',
    timestamp: 0,
    receivedAt: 0,
    visitorId: 'v',
    userId: '',
  },
};
const tables = { read: async () => [] } as SteadyTables;
const insertsEnd = async () => undefined;

test.each([
  [
    'has an unknown result',
    async (): Promise<readonly AppendOutcome[]> => [{ status: 'unknown', reason: 'no answer' }],
  ],
  ['is rejected', () => Promise.reject(new Error('gone'))],
])('after an append that %s, its records can arrive for `SETTLE_MS` from its end', async (_, slowAppend) => {
  const APPEND_MS = 1_700;
  let now = 1_000_000;
  let appends = 0;
  const eventLog = {
    logId: 'log',
    positions: async () => [],
    append: (): Promise<readonly AppendOutcome[]> => {
      appends += 1;
      if (appends > 1) return Promise.resolve([{ status: 'stored', partition: 0, offset: 0 }]);
      now += APPEND_MS;
      return slowAppend();
    },
  } as unknown as EventLog;
  const rows = createRestoredRows({
    ...{ eventLog, registry: { tombstones: () => [] }, tables, insertsEnd },
    clock: () => now,
  });

  expect(await rows.append('site', [ROW]).catch(({ message }) => message)).toMatch(/^(unknown|gone)$/);
  now += SETTLE_MS - 1;
  expect(await rows.append('site', [ROW])).toBe('behind');
  now += 1;
  expect(await rows.append('site', [ROW])).toBe(1);
});

test('a row of an erased person is not appended if it was received before the erasure', async () => {
  const appended: string[] = [];
  const eventLog = {
    logId: 'log',
    positions: async () => [],
    async append(_topic: string, records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> {
      appended.push(...records.map(({ value }) => decodeRawRecord(value).eventId));
      return records.map((_, offset) => ({ status: 'stored', partition: 0, offset }));
    },
  } as unknown as EventLog;
  const tombstone: Tombstone = {
    ...{ siteId: 'site', erasureId: 'erasure', part: 0, at: 10, salt: 's', whole: false },
    entries: [entryOf('u', erasureHash('s', 'site', 'u', 'zoe')), entryOf('c', erasureHash('s', 'site', 'c', 'cus-1'))],
  };
  const rows = createRestoredRows({
    eventLog,
    registry: { tombstones: () => [tombstone] },
    tables,
    insertsEnd,
    clock: () => 1_000,
  });
  const paid = { ...ROW, values: { properties: '{"payment_customer_id":"cus-1"}' } };
  const all: readonly DumpedRow[] = [
    { ...ROW, eventId: 'of the user', userId: 'zoe' },
    { ...paid, eventId: 'of the customer' },
    { ...ROW, eventId: 'later', userId: 'zoe', receivedAt: 11 },
    { ...ROW, eventId: 'other', userId: 'ann' },
  ];
  expect(await rows.append('site', all)).toBe(2);
  expect(appended).toEqual(['later', 'other']);
});
