import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openReplayHarness } from '../replay-harness.ts';

/** How long the tests wait. The time is long, because other test suites can run at the same time. */
const WITHIN_MS = 180_000;
jest.setTimeout(5 * WITHIN_MS);

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS = 20;
/** The midnight between the hits and the server events of the visits. */
const MIDNIGHT = (Math.floor(Date.now() / DAY_MS) - DAYS) * DAY_MS;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const weir = useOpened(() => openReplayHarness(1));

/** Appends a hit, and then a server event that joins the visit of the hit. The times are in minutes after midnight. */
async function visit(site: string, visitor: string, hitAt: number, eventAt: number): Promise<void> {
  const more = { userAgent: FIREFOX, receivedAt: MIDNIGHT + hitAt * MINUTE_MS };
  const hit = { site_id: site, type: 'pageview', url: `https://${site}.example/`, visitor_id: visitor, session_id: '' };
  await weir.append('all', 'collect', site, hit, more);
  const timestamp = MIDNIGHT + eventAt * MINUTE_MS;
  const event = { name: 'called', visitor_id: visitor, timestamp };
  await weir.append('all', 'event', site, event, { receivedAt: Math.max(timestamp, more.receivedAt + 1) });
}

/** Removes the events that are older than this number of days after midnight. */
async function expireUntil(site: string, daysLater: number, rollups: boolean): Promise<void> {
  const days = `${DAYS - daysLater}d`;
  const keep = { events: days, ...(rollups ? { rollups: days } : {}) };
  expect(await weir.call('PATCH', `/sites/${site}`, { keep })).toMatchObject({ status: 200 });
  const before = `fromUnixTimestamp64Milli(${MIDNIGHT + daysLater * DAY_MS}, 'UTC')`;
  await eventually(
    'the events to expire',
    async () =>
      weir.registry.expiry() === undefined &&
      (await weir.count(
        `SELECT count() AS n FROM events WHERE site_id = '${site}' AND least(timestamp, received_at) < ${before}`,
      )) === 0,
    WITHIN_MS,
  );
}

/** The rows of `sessions_kept` of a site: the visitor, and whether the row has hits. */
const kept = (site: string) =>
  weir.analytics.select(
    `SELECT made_for, toUInt8(visited) AS has_hits FROM sessions_kept WHERE site_id = '${site}' ORDER BY made_for, has_hits`,
  );

beforeAll(async () => {
  for (const site of ['shop', 'blog']) {
    for (const visitor of ['before-1', 'before-2']) await visit(site, visitor, -10, 5);
    await visit(site, 'after', 5, -10);
  }
  await weir.settled();
  const joined = await weir.analytics.select<{ ids: number | string; n: number | string }>(
    "SELECT site_id, visitor_id, uniqExact(session_id) AS ids, count() AS n FROM events WHERE event_name = 'called' OR pathname = '/' GROUP BY ALL",
  );
  expect(joined.map(({ ids, n }) => [Number(ids), Number(n)])).toEqual(Array.from({ length: 6 }, () => [1, 2]));
});

test('an erasure also removes what an expired server event has left of a visit, if it expired on another day', async () => {
  for (const daysLater of [0, 1]) await expireUntil('shop', daysLater, false);
  const both = (made_for: string) => [0, 1].map((has_hits) => ({ made_for, has_hits }));
  expect(await kept('shop')).toEqual([...both('after'), ...both('before-1'), ...both('before-2')]);
  const asked = await weir.call('POST', '/sites/shop/erasures', { visitors: ['before-1'] });
  await eventually(
    'the erasure',
    async () => (await weir.call('GET', `/erasures/${asked.body.data.erasure_id}`)).body.data.phase === 'done',
    WITHIN_MS,
  );
  expect(await kept('shop')).toEqual([...both('after'), ...both('before-2')]);
});

test('what an expired server event has left of a visit expires with the hits of the visit', async () => {
  await expireUntil('blog', 0, true);
  expect(await kept('blog')).toEqual([{ made_for: 'after', has_hits: 0 }]);
  const events = () =>
    weir.analytics.select("SELECT visitor_id, toUInt8(events) AS n FROM sessions WHERE site_id = 'blog' ORDER BY ALL");
  expect(await events()).toContainEqual({ visitor_id: 'after', n: 1 });
  await expireUntil('blog', 1, true);
  expect(await kept('blog')).toEqual([]);
});
