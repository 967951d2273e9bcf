import { holdsLossyJson } from '../../src/clickhouse/clickhouse-exact-json.ts';
import { batch, type ClickhouseUnderTest, openClickhouseUnderTest } from './clickhouse-harness.ts';

let opened: ClickhouseUnderTest;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
});
afterAll(() => opened.close());

test('a property keeps its value when its path has other types in other rows of the insert', async () => {
  // The path has more types here than a path of the column `properties` can have. The values that would be converted come last.
  const sent = [
    '1.5',
    '"s"',
    'true',
    '[1]',
    '["a"]',
    '[[1.5]]',
    '[null]',
    '[1.5]',
    '9007199254740993',
    '18446744073709551615',
  ];
  const mark = (json: string, at: number) => ({
    event_name: String(at),
    properties: { x: `<${json.replaceAll('"', "'")}>` },
  });
  const { lines, ...planned } = batch(0, sent.map(mark));
  const raw = lines.map((line, at) => Buffer.from(line.toString().replace(/"<.*>"/, () => sent[at] ?? '')));
  await opened.analytics.insertRecords({ ...planned, lines: raw });
  const rows = await opened.analytics.select<{ json: string }>(
    'SELECT toJSONString(properties) AS json FROM records ORDER BY toUInt32(event_name)',
  );
  expect(rows.map(({ json }) => json)).toEqual(sent.map((json) => `{"x":${json}}`));
});

describe('only inserts with values that ClickHouse would convert use the setting', () => {
  test.each([
    ['{"x":9007199254740993}', true],
    ['{"x": -9007199254740993}', true],
    ['{"x":[1,9007199254740993]}', true],
    ['{"x":[9007199254740993]}', true],
    ['{"x":[null,null]}', true],
    ['{"x":"9007199254740993"}', false],
    ['{"x":900719925474099}', false],
    ['{"x":null}', false],
  ])('properties %s: %s', (properties, lossy) => {
    const row = `["site-1","4003219876543210987654321098765f",1790000000000,${properties}]\n`;
    expect(holdsLossyJson(Buffer.from(row))).toBe(lossy);
  });
});
