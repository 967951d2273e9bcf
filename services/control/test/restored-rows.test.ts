import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import type { AppendOutcome, EventLog } from '@weir/ports/event-log';
import { SETTLE_MS } from '../src/imports/append-result.ts';
import { createRestoredRows } from '../src/imports/restored-rows.ts';
import type { SteadyTables } from '../src/steady-tables.ts';

const ROW: DumpedRow = {
  ...{ values: {}, outcome: 'row', eventId: 'e', timestamp: 0, receivedAt: 0, visitorId: 'v', userId: '' },
};

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
  const tables = { read: async () => [] } as SteadyTables;
  const rows = createRestoredRows({ eventLog, tables, clock: () => now });

  expect(await rows.append('site', [ROW]).catch(({ message }) => message)).toMatch(/^(unknown|gone)$/);
  now += SETTLE_MS - 1;
  expect(await rows.append('site', [ROW])).toBe('behind');
  now += 1;
  expect(await rows.append('site', [ROW])).toBe(1);
});
