import { DependencyError } from '@weir/domain/errors';
import { createOwnedTables } from '../../src/lmdb/thread/owned-tables.ts';

test('a table that could not be opened once is opened by the next call', async () => {
  let failures = 1;
  const tables = createOwnedTables({
    async openTable() {
      if (failures-- > 0) throw new DependencyError('event_log_unavailable', 'the thread is busy');
      return [['key', 'value']];
    },
    putRow: async () => undefined,
  });
  await expect(tables.openTable('registry')).rejects.toMatchObject({ code: 'event_log_unavailable' });
  expect([...(await tables.openTable('registry')).entries()]).toEqual([['key', 'value']]);
});
