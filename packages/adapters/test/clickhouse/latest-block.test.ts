import { ClickHouseError } from '@clickhouse/client';
import { statementError } from '../../src/clickhouse/clickhouse-errors.ts';
import { readLatestBlock } from '../../src/clickhouse/running-inserts.ts';

const failing = (code: string) => async () => {
  throw statementError(new ClickHouseError({ code, message: 'Not enough privileges', type: 'SOME_TYPE' }));
};

test('without the permission to read system.parts, the latest block is unknown', async () => {
  expect(await readLatestBlock(failing('497'))).toBeUndefined();
});

test('any other failure is reported', async () => {
  await expect(readLatestBlock(failing('241'))).rejects.toThrow('Not enough privileges');
});
