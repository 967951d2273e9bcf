import { join } from 'node:path';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { type ClickhouseShadow, openClickhouseShadow } from '../../src/clickhouse/clickhouse-shadow.ts';
import { type ClickhouseUnderTest, everyKind, openClickhouseUnderTest } from './clickhouse-harness.ts';
import { tableDigests } from './table-digests.ts';

describe('the shadow tables', () => {
  let opened: ClickhouseUnderTest;
  let shadow: ClickhouseShadow;
  beforeAll(async () => {
    opened = await openClickhouseUnderTest();
    await opened.analytics.migrate();
    const migrationsDir = join(__dirname, '../../../../schemas/clickhouse');
    shadow = openClickhouseShadow({ ...opened.clickhouse, migrationsDir }, opened.analytics);
  });
  afterAll(async () => {
    await shadow.close();
    await opened.close();
  });
  const digests = (database: string) => tableDigests((query) => opened.analytics.select(query), database);

  it('receive copies of rows in every table, each once however often the copy is repeated', async () => {
    for (const from of [0, 5, 10]) await opened.analytics.insertRecords(everyKind(from));
    await shadow.create();
    await shadow.create();
    const copy = (from: number, to: number) =>
      shadow.copy({
        condition: 'raw_offset >= {from:UInt64} AND raw_offset < {to:UInt64}',
        params: { from, to },
        token: `copy:test:${from}`,
      });
    await copy(0, 10);
    await copy(0, 10);
    await copy(10, 15);
    await Promise.all([copy(0, 10), copy(10, 15)]);
    const live = await digests('weir');
    expect(live.records).toMatch(/^15 /);
    expect(await digests('weir_shadow')).toEqual(live);
    expect(await shadow.analytics.highestRawOffset('log-1', 0)).toBe(14);
  });

  it('are gone after a drop, which can be repeated', async () => {
    await shadow.drop();
    await shadow.drop();
    await expect(shadow.analytics.highestRawOffset('log-1', 0)).rejects.toMatchObject({ name: 'DependencyError' });
    expect((await digests('weir')).records).toMatch(/^15 /);
  });

  it('copy every column of records that stores something', async () => {
    const columns = await opened.analytics.select<{ name: string }>(
      "SELECT name FROM system.columns WHERE database = 'weir' AND table = 'records' AND default_kind = '' ORDER BY position",
    );
    expect(columns.map(({ name }) => name)).toEqual(RECORDS_COLUMNS);
  });
});
