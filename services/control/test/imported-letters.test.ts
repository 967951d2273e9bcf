import { importEventIds } from '@weir/domain/access-log/import-event-ids';
import { DUMP_COLUMNS } from '@weir/domain/dump/dump-format';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { useFaultyLog } from './faulty-log-harness.ts';

const { weir, appends } = useFaultyLog();

let files = 0;
async function start(site: string, digest = (++files).toString(16).padStart(64, 'b')) {
  const { lease } = (await weir.call('POST', `/sites/${site}/imports`, { file_digest: digest })).body.data;
  const send = (body: object) => weir.call('POST', `/sites/${site}/imports/${digest}/chunks`, { lease, ...body });
  return { digest, send };
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:25.0) Gecko/20100101 Firefox/25.0';
const FIRST_MS = 1_431_857_103_000;
const LINES = [1, 2, 3];
const hits = (ip = '192.0.2.1') => ({
  ...{ first_line: 1, last_line: 3 },
  hits: LINES.map((line) => ({
    ...{ line, timestamp: FIRST_MS + line, ip, user_agent: FIREFOX },
    ...{ url: `https://example.com/${line}`, referrer: '' },
  })),
});

/** Lines of a dump. The event IDs depend on the site. */
const dump = (site: string) => ({
  ...{ first_line: 1, last_line: 3 },
  rows: LINES.map((line) => {
    const time = FIRST_MS + line;
    const values: Readonly<Record<string, unknown>> = {
      ...{ outcome: 'row', source: 'collect', type: 'pageview', cookieless: false, value: null, properties: '{}' },
      ...{ screen_width: 0, screen_height: 0, timestamp: time, received_at: time, visitor_id: 'v' },
      ...{ event_id: importEventIds(site, 'dump')(line), pathname: `/${line}` },
    };
    return DUMP_COLUMNS.map((column) => (column in values ? values[column] : ''));
  }),
});

async function settled(): Promise<void> {
  const audit = async () => (await weir.call('GET', '/audit')).body.data;
  await eventually('everything is stored', async () => (await audit()).totals.in_flight === 0);
  expect((await audit()).balanced).toBe(true);
}

/** The paths of the events of a site. */
async function paths(site: string): Promise<readonly unknown[]> {
  await settled();
  const query = 'SELECT pathname FROM events WHERE site_id = {site:String} ORDER BY pathname';
  const { body } = await weir.call('POST', '/sql', { query, params: { site } });
  return body.data.rows.map(({ pathname }: { pathname: unknown }) => pathname);
}

/** Makes ClickHouse refuse the rows of the path /2, so that they become dead letters. */
const refuse = () => weir.command("ALTER TABLE weir.records ADD CONSTRAINT no_second CHECK pathname != '/2'");
const accept = () => weir.command('ALTER TABLE weir.records DROP CONSTRAINT no_second');
const redriveAll = async (site: string) =>
  (await weir.call('POST', '/dead-letters/redrive', { site })).body.data.results.map(
    ({ result }: { result: string }) => result,
  );

test('a hit that became a dead letter is not appended again by the repeat of its chunk', async () => {
  const site = await weir.newSite();
  const { send } = await start(site);
  await refuse();
  appends.fault = 'stored-unknown';
  expect((await send(hits())).status).toBe(503);
  appends.fault = 'none';
  weir.forgetControl();
  expect(await paths(site)).toEqual(['/1', '/3']);
  await accept();
  expect((await send(hits())).body.data).toMatchObject({ lines_done: 3, hits_appended: 3 });
  expect(await paths(site)).toEqual(['/1', '/3']);
  expect(await redriveAll(site)).toEqual(['stored']);
  expect(await paths(site)).toEqual(['/1', '/2', '/3']);
});

test('the same if the enricher made the dead letter', async () => {
  const site = await weir.newSite();
  const { send } = await start(site);
  weir.failPlaces(true);
  appends.fault = 'stored-unknown';
  // The enricher has not looked up this address before.
  expect((await send(hits('192.0.2.9'))).status).toBe(503);
  appends.fault = 'none';
  weir.forgetControl();
  expect(await paths(site)).toEqual([]);
  weir.failPlaces(false);
  expect((await send(hits('192.0.2.9'))).body.data).toMatchObject({ lines_done: 3, hits_appended: 3 });
  expect(await paths(site)).toEqual([]);
  expect(await redriveAll(site)).toEqual(['stored', 'stored', 'stored']);
  expect(await paths(site)).toEqual(['/1', '/2', '/3']);
});

test('a row of a dump that became a dead letter is not appended again by another import', async () => {
  const site = await weir.newSite();
  await refuse();
  expect((await (await start(site)).send(dump(site))).body.data).toMatchObject({ hits_appended: 3 });
  expect(await paths(site)).toEqual(['/1', '/3']);
  await accept();
  weir.forgetControl();
  expect((await (await start(site)).send(dump(site))).body.data).toMatchObject({ lines_done: 3, hits_appended: 0 });
  expect(await redriveAll(site)).toEqual(['stored']);
  expect(await paths(site)).toEqual(['/1', '/2', '/3']);
});

test('a row whose dead letter cannot be redriven any more is appended by another import', async () => {
  const site = await weir.newSite();
  await refuse();
  expect((await (await start(site)).send(dump(site))).status).toBe(200);
  expect(await paths(site)).toEqual(['/1', '/3']);
  await accept();
  const ends = (await weir.eventLog.positions(TOPIC_RAW, GROUP_ENRICHER)).map(({ end }) => end);
  await weir.eventLog.removeBefore(TOPIC_RAW, ends);
  expect(await redriveAll(site)).toEqual(['refused']);
  weir.forgetControl();
  expect((await (await start(site)).send(dump(site))).body.data).toMatchObject({ hits_appended: 1 });
  expect(await paths(site)).toEqual(['/1', '/2', '/3']);
});

test('a hit that was dropped because an earlier site with this ID was removed is imported into the new site', async () => {
  const site = 'created_again';
  const digest = 'c'.repeat(64);
  const eventId = importEventIds(site, digest)(2);
  const head = { eventId, kind: 'import', siteId: site, receivedAt: weir.clock(), sealedIp: '' } as const;
  const body = JSON.stringify({ url: 'https://example.com/2', timestamp: FIRST_MS });
  const value = encodeRawRecord({ ...head, userAgent: FIREFOX, acceptLanguage: '' }, body);
  await weir.eventLog.append(TOPIC_RAW, [{ partition: 0, value }]);
  await settled();
  await weir.call('POST', '/sites', { name: site, domain: 'example.com', site_id: site });
  const { send } = await start(site, digest);
  expect((await send(hits())).body.data).toMatchObject({ lines_done: 3, hits_appended: 3 });
  expect(await paths(site)).toEqual(['/1', '/2', '/3']);
});
