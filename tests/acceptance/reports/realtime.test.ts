import type { TestKey } from '@weir/testkit/weir-client';
import { useWeir } from '../use-weir.ts';
import { importText } from './stats-traffic.ts';

const client = useWeir();

interface Counted {
  readonly visitors: number;
  readonly pageviews: number;
  readonly events: number;
}
type List = readonly (Counted & { readonly value: string })[];
interface Realtime {
  readonly from: string;
  readonly to: string;
  readonly last_5_minutes: Counted;
  readonly last_30_minutes: Counted;
  readonly minutes: readonly (Counted & { readonly start: string })[];
  readonly pages: List;
  readonly sources: List;
  readonly countries: List;
  readonly explain?: {
    readonly statements: readonly { readonly sql: string; readonly params: object }[];
    readonly left_out: Readonly<Record<string, unknown>>;
  };
}

/** A pageview in an access log, or a server event (if `event` is set). */
interface Sent {
  readonly minutesAgo: number;
  readonly who: 'ann' | 'bob' | 'eve' | 'bot';
  readonly path: string;
  readonly source: string;
  readonly event?: string;
}

const IPS = { ann: '8.8.8.8', bob: '194.25.0.60', eve: '133.11.93.1', bot: '66.249.66.1' };
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const REFERRERS: Readonly<Record<string, string>> = { Google: 'https://www.google.com/', Direct: '' };

/** The sent hits. Some are older than 5 minutes or older than 30 minutes, which are the two periods of the report. */
const SENT: readonly Sent[] = [
  { minutesAgo: 400, who: 'eve', path: '/old', source: 'Google' },
  { minutesAgo: 33, who: 'ann', path: '/old', source: 'Google' },
  { minutesAgo: 26.5, who: 'ann', path: '/a', source: 'Google' },
  { minutesAgo: 26.4, who: 'ann', path: '/b', source: 'Google' },
  { minutesAgo: 12, who: 'bob', path: '/a', source: 'Direct' },
  { minutesAgo: 11, who: 'bot', path: '/a', source: 'Direct' },
  { minutesAgo: 10, who: 'bob', path: '', source: 'Direct', event: 'signup' },
  { minutesAgo: 9, who: 'bob', path: '', source: 'Direct', event: '$engagement' },
  { minutesAgo: 3, who: 'bob', path: '/a', source: 'Direct' },
  { minutesAgo: 1, who: 'eve', path: '/c', source: 'Google' },
  { minutesAgo: 0.1, who: 'eve', path: '/a', source: 'Google' },
];

describe('realtime', () => {
  let site = '';
  let key: TestKey;
  let begun = 0;
  const at = ({ minutesAgo }: Sent): number => begun - Math.round(minutesAgo * 60_000);
  const get = async (query = ''): Promise<Realtime> =>
    (await client.must(200, 'GET', `/sites/${site}/realtime?${query}`)) as Realtime;

  beforeAll(async () => {
    site = await client.createSite({ timezone: 'Asia/Kolkata' });
    key = await client.createKey(site);
    begun = Date.now();
    const lines = SENT.filter(({ event }) => event === undefined).map((one) =>
      JSON.stringify({
        ...{
          time: at(one),
          ip: IPS[one.who],
          url: one.path,
          referrer: REFERRERS[one.source],
          method: 'GET',
          status: 200,
        },
        user_agent: one.who === 'bot' ? GOOGLEBOT : AGENT,
      }),
    );
    await importText(client, site, `${lines.join('\n')}\n`);
    // The server events get the visitor ID and the session ID of Bob's hits in the access log, which come from Germany.
    const found = await client.sql(
      "SELECT visitor_id, session_id FROM events WHERE site_id = {site:String} AND bot = '' AND country = 'DE' LIMIT 1",
      { site },
    );
    const events = SENT.filter(({ event }) => event !== undefined).map((one) => ({
      ...{ name: one.event, timestamp: at(one) },
      ...found[0],
    }));
    await client.sendBatch(key.key, events);
    await client.settled();
  });

  const counted = (sent: readonly Sent[]): Counted => ({
    visitors: new Set(sent.map(({ who }) => who)).size,
    pageviews: sent.filter(({ event }) => event === undefined).length,
    events: sent.filter(({ event }) => event !== undefined).length,
  });
  const shown = SENT.filter(({ who, event }) => who !== 'bot' && event !== '$engagement');
  const listOf = (sent: readonly Sent[], of: (one: Sent) => string): List =>
    [...new Set(sent.map(of))]
      .map((value) => ({ value, ...counted(sent.filter((one) => of(one) === value)) }))
      .toSorted((a, b) => b.visitors - a.visitors || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)));

  test('equals what was sent, counted by hand', async () => {
    const answer = await get();
    const to = Date.parse(answer.to);
    expect(to - Date.parse(answer.from)).toBe(30 * 60_000);
    const within = (from: number, end: number) => shown.filter((one) => at(one) >= from && at(one) < end);
    const last30 = within(to - 30 * 60_000, to);
    expect(last30.length).toBeGreaterThan(0);
    expect(answer.last_30_minutes).toEqual(counted(last30));
    expect(answer.last_5_minutes).toEqual(counted(within(to - 5 * 60_000, to)));
    expect(answer.minutes).toHaveLength(30);
    expect(answer.minutes.map(({ start: _, ...numbers }) => numbers)).toEqual(
      answer.minutes.map(({ start }) => counted(within(Date.parse(start), Date.parse(start) + 60_000))),
    );
    expect(answer.minutes[0]?.start).toBe(answer.from);
    expect(answer.from).toMatch(/\+05:30$/);
    expect(answer.pages).toEqual(
      listOf(
        last30.filter(({ path }) => path !== ''),
        ({ path }) => path,
      ),
    );
    expect(answer.sources).toEqual(listOf(last30, ({ source }) => source.replace('Direct', '')));
  });

  test('equals the stats and the breakdowns of the same 30 minutes', async () => {
    const answer = await get('limit=100&bots=include');
    const period = `from=${encodeURIComponent(answer.from)}&to=${encodeURIComponent(answer.to)}&bots=include`;
    const report = async (query: string) =>
      (await client.must(200, 'GET', `/sites/${site}/${query}&${period}`)) as never;
    const { totals } = (await report('stats?')) as { readonly totals: Counted };
    expect(totals).toMatchObject(answer.last_30_minutes);
    for (const [list, dimension] of [
      ['pages', 'page'],
      ['sources', 'source'],
      ['countries', 'country'],
    ] as const) {
      const { rows } = (await report(`breakdown?dimension=${dimension}`)) as { readonly rows: List };
      expect(rows.map(({ value, visitors, pageviews, events }) => ({ value, visitors, pageviews, events }))).toEqual(
        answer[list],
      );
    }
    expect(answer.countries.map(({ value }) => value)).toContain('DE');
  });

  test('filters, bots, the length of the lists, and the SQL', async () => {
    const all = await get();
    const filtered = await get('filter=country:is:DE&limit=1&explain=1');
    expect(filtered.last_30_minutes.visitors).toBe(1);
    expect(filtered.pages).toHaveLength(1);
    const bots = await get('bots=include');
    expect(bots.last_30_minutes.pageviews - all.last_30_minutes.pageviews).toBe(1);
    const { sql = '', params = {} } = filtered.explain?.statements[0] ?? {};
    const rows = await client.sql(sql, params);
    expect(Number(rows.find(({ list }) => list === 'all')?.visitors)).toBe(1);
    expect(filtered.explain?.left_out).toMatchObject({ bots: 1, internal_events: 1 });
  });

  test('a site without hits, and invalid requests', async () => {
    const empty = await client.createSite();
    const answer = (await client.must(200, 'GET', `/sites/${empty}/realtime`)) as Realtime;
    expect(answer).toMatchObject({ last_30_minutes: { visitors: 0 }, pages: [], sources: [], countries: [] });
    expect(answer.minutes).toHaveLength(30);
    for (const [query, message] of [
      ['limit=101', 'limit must be a whole number from 1 to 100'],
      ['period=7d', 'period is not a known parameter; known are filter, bots, explain, limit'],
      ['filter=planet:is:x', expect.stringMatching(/^filter must begin with a dimension/)],
    ]) {
      const refused = await client.admin('GET', `/sites/${site}/realtime?${query}`);
      expect([refused.status, refused.json]).toMatchObject([400, { error: { message } }]);
    }
    expect((await client.admin('GET', '/sites/none/realtime')).status).toBe(404);
  });
});
