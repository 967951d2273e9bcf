import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { openClickhouseShadow } from '@weir/adapters/clickhouse/clickhouse-shadow';
import { liveAndShadow } from '@weir/control/erasure/live-and-shadow';
import { useClickhouse } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const opened = useClickhouse();

test.each([4, 58, 64])('the shadow tables of a database whose name has %i characters are found', async (length) => {
  const tables = { ...opened.clickhouse, database: 'w'.repeat(length), migrationsDir: '' };
  const analytics = openClickhouseAnalytics(tables);
  const shadow = openClickhouseShadow(tables, analytics);
  // Names with the same first 57 characters have the same shadow database, so it is removed after each test.
  for (const name of [shadow.live, shadow.shadow]) await opened.analytics.change(`CREATE DATABASE ${name}`);
  const found = await liveAndShadow(analytics);
  expect(found.map(({ name, live }) => [name, Boolean(live)])).toEqual([
    [shadow.live, true],
    [shadow.shadow, false],
  ]);
  await shadow.drop();
  await Promise.all([shadow.close(), analytics.close()]);
});
