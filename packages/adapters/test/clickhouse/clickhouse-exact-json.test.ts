import fc from 'fast-check';
import { holdsLossyJson } from '../../src/clickhouse/clickhouse-exact-json.ts';
import { batch, useClickhouse } from './clickhouse-harness.ts';

const opened = useClickhouse();

test('a property keeps its value when its path has other types in other rows of the insert', async () => {
  // The values have more types than ClickHouse keeps for one path of `properties`. The values that ClickHouse would convert come last.
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

describe('only inserts with values that ClickHouse would convert are sent with EXACT_JSON_SETTINGS', () => {
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

  test('any text gives the same result as a regular expression that reads every character', () => {
    const lossy = /[\s:,[]-?\d{16}|\[(?:null,)*null\]/;
    const digits = fc.integer({ min: 1, max: 40 }).map((count) => '1234567890'.repeat(4).slice(0, count));
    const parts = fc.oneof(
      digits,
      fc.constantFrom('null', '[', ']', ',', ':', '-', '"', ' ', '{', '}', 'x', '\n', 'ü'),
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 20 }), (texts) => {
        const text = texts.join('');
        expect(holdsLossyJson(Buffer.from(text))).toBe(lossy.test(text));
      }),
      { numRuns: 2000 },
    );
  });
});
