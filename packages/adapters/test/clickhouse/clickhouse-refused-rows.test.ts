import type { RecordsColumn } from '@weir/domain/records/records-columns';
import { batch, useClickhouse } from './clickhouse-harness.ts';

const opened = useClickhouse();

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
/** Texts that are invalid or unusual as the value of a column. */
const WRONG = [
  '"wide"',
  '-1',
  '1.5',
  '1e999',
  '99999999999999999999999999',
  '[]',
  '[1,"a",[{}]]',
  '{"a":{"a":1},"a.b":[{"a":1},[2]]}',
  '{"a":1,"a":"2"}',
  '{"":{"":""}}',
  'true',
  'nonsense',
  '"\\ud800"',
  '"\\u0000"',
  deep(5_000),
];

/** Columns of different types. `detail` is a text, but the views parse it as JSON. */
const COLUMNS = [
  'site_id',
  'timestamp',
  'cookieless',
  'value',
  'properties',
  'screen_width',
  'raw_offset',
  'detail',
] as const;

/** Makes a batch with one row, in which `text` is the JSON value of `column`. */
function rowWith(raw: number, column: RecordsColumn, text: string) {
  const made = batch(raw, [{ outcome: 'identify', [column]: '@@' }]);
  return { ...made, lines: made.lines.map((line) => Buffer.from(Buffer.from(line).toString().replace('"@@"', text))) };
}

test('a row with an unusual value in any column is either stored or refused as invalid', async () => {
  const insert = async (raw: number, column: RecordsColumn, text: string): Promise<string> => {
    const said = (error: { code: string; message: string }) => `${error.code}: ${error.message}`;
    const answer = await opened.analytics.insertRecords(rowWith(raw, column, text)).then(() => 'stored', said);
    return answer.startsWith('analytics_unavailable') ? `${column} = ${text.slice(0, 40)}: ${answer}` : answer;
  };
  let raw = 0;
  const inserts = COLUMNS.flatMap((column) => WRONG.map((text) => insert(raw++, column, text)));
  const answers = await Promise.all(inserts);
  expect(answers.filter((answer) => answer.includes('analytics_unavailable'))).toEqual([]);
  expect(answers.filter((answer) => answer.startsWith('analytics_refused')).length).toBeGreaterThan(50);
}, 60_000);

test('a line with too many or too few values, or without JSON, is refused as invalid', async () => {
  const whole = Buffer.from(batch(0, [{}]).lines[0] as Uint8Array).toString();
  const wrong = [
    whole.replace(/\]\n$/, ',1]\n'),
    '[1]\n',
    '[]\n',
    '{}\n',
    'not JSON\n',
    whole.slice(0, 20),
    `${whole.slice(0, 20)}\n`,
  ];
  for (const line of wrong) {
    const made = { ...batch(5_000, [{}]), lines: [Buffer.from(line)] };
    await expect(opened.analytics.insertRecords(made).then(() => line)).rejects.toMatchObject({
      code: 'analytics_refused',
    });
  }
});
