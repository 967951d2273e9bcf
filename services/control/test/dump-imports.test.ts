import { DUMP_COLUMNS } from '@weir/domain/dump/dump-format';
import { eventually } from '@weir/testkit/eventually';
import type { AppendFault } from '@weir/testkit/faulty-event-log';
import { useFaultyLog } from './faulty-log-harness.ts';

const { weir, appends } = useFaultyLog();

let files = 0;
const newDigest = () => (++files).toString(16).padStart(64, 'a');

const EMPTY: Readonly<Record<string, unknown>> = {
  ...{ outcome: 'row', source: 'collect', type: 'pageview', cookieless: false, value: null, properties: '{}' },
  ...{ screen_width: 0, screen_height: 0 },
};
/** The values of the n-th row of a dump. Every 200 rows, a new month begins. */
const row = (n: number) => {
  const time = Date.UTC(2026, Math.floor(n / 200), 5, 0, 0, n);
  const own = {
    event_id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    pathname: `/${n}`,
    visitor_id: 'v',
  };
  const values: Readonly<Record<string, unknown>> = { ...EMPTY, ...own, timestamp: time, received_at: time };
  return DUMP_COLUMNS.map((column) => (column in values ? values[column] : ''));
};
const chunk = (lease: string, numbers: readonly number[], first = 1) => ({
  lease,
  first_line: first,
  last_line: first + numbers.length - 1,
  rows: numbers.map(row),
});
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

async function start(site: string) {
  const digest = newDigest();
  const { lease } = (await weir.call('POST', `/sites/${site}/imports`, { file_digest: digest })).body.data;
  const send = (body: object) => weir.call('POST', `/sites/${site}/imports/${digest}/chunks`, body);
  return { lease: lease as string, send };
}

async function expectRows(site: string, rows: number): Promise<void> {
  const query = 'SELECT count() AS rows, uniqExact(event_id) AS ids FROM events WHERE site_id = {site:String}';
  const audit = async () => (await weir.call('GET', '/audit')).body.data;
  await eventually('everything is stored', async () => (await audit()).totals.in_flight === 0);
  const { body } = await weir.call('POST', '/sql', { query, params: { site } });
  expect([Number(body.data.rows[0].rows), Number(body.data.rows[0].ids)]).toEqual([rows, rows]);
  expect((await audit()).balanced).toBe(true);
}

describe.each<AppendFault>(['refused', 'half', 'stored-unknown', 'lost-unknown'])('an append that is %s', (kind) => {
  test.each([true, false])('is repeated without a second row (control is killed: %s)', async (killed) => {
    const site = await weir.newSite();
    const { lease, send } = await start(site);
    expect((await send(chunk(lease, range(1, 20)))).body.data).toMatchObject({ lines_done: 20, hits_appended: 20 });
    appends.fault = kind;
    expect((await send(chunk(lease, range(21, 60), 21))).status).toBe(503);
    appends.fault = 'none';
    if (killed) weir.forgetControl();
    await eventually('the chunk is taken', async () => (await send(chunk(lease, range(21, 60), 21))).status === 200);
    await expectRows(site, 60);
  });
});

test('two dumps with the same rows, in pieces of different lengths, at the same time', async () => {
  const site = await weir.newSite();
  const [one, two] = [await start(site), await start(site)];
  for (let at = 1; at <= 400; at += 40) {
    const [first, second] = await Promise.all([
      one.send(chunk(one.lease, range(at, at + 39), at)),
      two.send(chunk(two.lease, range(at + 20, at + 59), at)),
    ]);
    expect([first.status, second.status]).toEqual([200, 200]);
  }
  await expectRows(site, 420);
});

test('a row that a chunk has twice is one row', async () => {
  const site = await weir.newSite();
  const { lease, send } = await start(site);
  expect((await send(chunk(lease, [1, 2, 1, 1]))).body.data).toMatchObject({ lines_done: 4, hits_appended: 2 });
  await expectRows(site, 2);
});

test.each([
  ['event_id', 'x'],
  ['outcome', 'dead'],
  ['timestamp', -1],
  ['received_at', 4_102_444_800_000],
  ['properties', '[]'],
  ['properties', '{"a":\n1}'],
  ['properties', {}],
  ['value', 'NaN'],
  ['screen_width', 4_294_967_296],
  ['pathname', null],
  ['url', 'x'.repeat(300_000)],
  ['detail', '{'],
])('400 for %s = %p', async (column, value) => {
  const { lease, send } = await start(await weir.newSite());
  const rows = [row(1).with(DUMP_COLUMNS.indexOf(column as (typeof DUMP_COLUMNS)[number]), value as string)];
  const reply = await send({ lease, first_line: 1, last_line: 1, rows });
  expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringMatching(/^row 1: /)]);
});
