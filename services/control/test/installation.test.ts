import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from './control-harness.ts';

const weir = useOpened(openControlHarness);
beforeAll(async () => {
  await weir.call('POST', '/sites', { name: 'Shop', domain: 'example.com', site_id: 'shop' });
});

const digest = 'ab'.repeat(32);
const hit = (line: number) => ({
  ...{ line, timestamp: Date.now() - 1_000, ip: '8.8.8.8', user_agent: 'Mozilla/5.0 Firefox/140.0' },
  ...{ url: `https://example.com/${line}`, referrer: '' },
});
const minutes = async (query = '') => (await weir.call('GET', `/audit/minutes${query}`)).body.data;
/** Each reading has another number of minutes, because equal requests share their answer for 10 s. */
let readings = 61;
const received = async (): Promise<number> =>
  (await minutes(`?minutes=${readings++}`)).minutes.reduce(
    (sum: number, minute: { received: number }) => sum + minute.received,
    0,
  );

test('the books of the last minutes balance until the sums differ from the stored records', async () => {
  const begun = await weir.call('POST', '/sites/shop/imports', { file_digest: digest });
  const { lease } = begun.body.data;
  const chunk = { lease, first_line: 1, last_line: 3, hits: [hit(1), hit(2), hit(3)] };
  expect((await weir.call('POST', `/sites/shop/imports/${digest}/chunks`, chunk)).status).toBe(200);
  await eventually('all records are stored', async () => (await received()) === 3);
  const books = await minutes();
  expect(books.balanced).toBe(true);
  expect(books.minutes).toHaveLength(60);
  const filled = books.minutes.filter((minute: { received: number }) => minute.received > 0);
  expect(
    filled.every(
      ({ outcomes, balanced }: { outcomes: { row: number }; balanced: boolean }) => balanced && outcomes.row > 0,
    ),
  ).toBe(true);

  const { minute } = filled[0];
  await weir.command(
    `INSERT INTO weir.books_sums (site_id, minute, outcome, reason, rule_id, records) VALUES ('shop', parseDateTimeBestEffort('${minute}'), 'row', '', '', 1)`,
  );
  const wrong = await minutes('?minutes=59');
  expect(wrong.balanced).toBe(false);
  expect(wrong.minutes.filter(({ balanced }: { balanced: boolean }) => !balanced)).toMatchObject([{ minute }]);
});

test('minutes is a number from 1 to 1,440', async () => {
  expect((await minutes('?minutes=1440')).minutes).toHaveLength(1_440);
  for (const query of ['?minutes=0', '?minutes=1441', '?minutes=x', '?hours=1']) {
    expect([query, (await weir.call('GET', `/audit/minutes${query}`)).status]).toEqual([query, 400]);
  }
});

test('the installation shows imports, and no archive if Weir does not archive', async () => {
  const { body } = await weir.call('GET', '/installation');
  expect(body.data).toEqual({
    ...{ disks: [], engines: [], archive: null, replay: null, backup: null, can_back_up: false },
    imports: [
      {
        ...{ site_id: 'shop', file_digest: digest, started_at: expect.any(String), lines_done: 3, hits_appended: 3 },
        finished: false,
      },
    ],
  });
});
