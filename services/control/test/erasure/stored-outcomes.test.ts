import { createStoredOutcomes } from '../../src/erasure/stored-outcomes.ts';

const RECORDS = 1_000_000;
const RANGE = 50_000;

/** Tables in which every raw offset below `RECORDS` is erased. */
function erasedTables() {
  let statements = 0;
  const select = async (query: string, { from = 0 }: { readonly from?: number } = {}) => {
    if (query.startsWith('SELECT DISTINCT')) return [{ log_id: 'log' }];
    statements += 1;
    const limit = Number(/LIMIT (\d+)/.exec(query)?.[1]);
    return Array.from({ length: Math.max(0, Math.min(limit, RECORDS - from)) }, (_, nth) => ({
      raw_offset: String(from + nth),
      is_erased: true,
    }));
  };
  return {
    select: select as unknown as Parameters<typeof createStoredOutcomes>[0]['select'],
    statements: () => statements,
  };
}

test('ranges in order are read with few statements, and old outcomes are forgotten', async () => {
  const tables = erasedTables();
  const outcomes = await createStoredOutcomes(tables);
  let most = 0;
  for (let from = 0; from < RECORDS; from += RANGE) {
    const to = from + RANGE - 1;
    const found = await outcomes.read({ logId: 'log', partition: 0, from, to } as Parameters<typeof outcomes.read>[0]);
    for (const offset of [from, to]) expect(found.get(offset)).toBe('erased');
    most = Math.max(most, found.size);
  }
  expect(most).toBeLessThan(0.6 * RECORDS);
  expect(tables.statements()).toBeLessThan((1.5 * RECORDS) / 100_000);
});
