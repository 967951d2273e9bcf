import { eventually } from '@weir/testkit/eventually';
import { astral, UUID_V5 } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

interface Sent {
  readonly site: string;
  readonly name: string;
  readonly ip?: string;
  readonly agent?: string;
  readonly fields?: object;
}

/** Sends an event. It is cookieless, unless `fields` contains IDs. The name of the event identifies its row. */
async function collect({ site, name, ip = '203.0.113.10', agent = CHROME, fields = {} }: Sent): Promise<void> {
  const body = { site_id: site, visitor_id: '', session_id: '', type: 'event', event_name: name, ...fields };
  const answer = await weir.collect(body, { 'x-forwarded-for': ip, 'user-agent': agent });
  expect(answer.status).toBe(204);
}

async function rowsByName(site: string, count: number, columns: string) {
  const rows = await weir.rows('events', site, count, `event_name, ${columns}`);
  return new Map(rows.map((row) => [String(row.event_name), row]));
}

describe('free texts that are too long are cut, not refused', () => {
  test('url, referrer and pathname are cut to 4,096 chars, other texts to 255', async () => {
    const site = await weir.createSite();
    const short = ['hostname', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'ref', 'via'];
    for (const [name, fill] of [
      ['ascii', (chars: number) => 'x'.repeat(chars)],
      ['astral', astral],
    ] as const) {
      const fields = Object.fromEntries([...short, 'source'].map((field) => [field, fill(300)]));
      const urls = {
        url: `https://a.example/${fill(4100)}`,
        referrer: `https://b.example/${fill(4100)}`,
        pathname: fill(4097),
      };
      await collect({ site, name, fields: { ...fields, ...urls, visitor_id: 'v', session_id: 's' } });
    }
    const lengths = [...short, 'source_param', 'pathname', 'url', 'referrer'].map(
      (column) => `lengthUTF8(${column}) AS ${column}_chars`,
    );
    const rows = await rowsByName(site, 2, lengths.join(', '));
    for (const name of ['ascii', 'astral']) {
      const row = rows.get(name) ?? {};
      expect(short.map((column) => Number(row[`${column}_chars`]))).toEqual(short.map(() => 255));
      expect(['source_param', 'pathname', 'url', 'referrer'].map((column) => Number(row[`${column}_chars`]))).toEqual([
        255, 4096, 4096, 4096,
      ]);
    }
  });
});

describe('cookieless', () => {
  test('an empty visitor_id is replaced by a hash of salt, site, address and user agent', async () => {
    const [site, other] = [await weir.createSite(), await weir.createSite()];
    await collect({ site, name: 'a' });
    await collect({ site, name: 'same' });
    await collect({ site, name: 'agent', agent: FIREFOX });
    await collect({ site, name: 'address', ip: '203.0.113.11' });
    await collect({ site: other, name: 'site' });
    await collect({ site, name: 'v6', ip: '2001:db8:1:2::1' });
    await collect({ site, name: 'v6same', ip: '2001:db8:1:2:ffff::9' });
    await collect({ site, name: 'v6other', ip: '2001:db8:1:3::1' });
    await collect({ site, name: 'mapped', ip: '::ffff:203.0.113.10' });
    await collect({ site, name: 'given', fields: { visitor_id: 'v', session_id: 's' } });
    const rows = await rowsByName(site, 9, 'visitor_id, session_id, cookieless');
    const [elsewhere] = await weir.rows('events', other, 1, 'visitor_id');
    const id = (name: string) => String(rows.get(name)?.visitor_id);
    expect(id('a')).toMatch(/^c_[0-9a-f]{32}$/);
    expect(id('same')).toBe(id('a'));
    expect(id('mapped')).toBe(id('a'));
    expect(id('v6same')).toBe(id('v6'));
    const distinct = [id('a'), id('agent'), id('address'), String(elsewhere?.visitor_id), id('v6'), id('v6other')];
    expect(new Set(distinct).size).toBe(distinct.length);
    expect(Boolean(rows.get('a')?.cookieless)).toBe(true);
    expect(rows.get('given')).toMatchObject({ visitor_id: 'v', session_id: 's' });
    expect(Boolean(rows.get('given')?.cookieless)).toBe(false);
  });

  test('the server computes a missing session_id: one session for hits without a pause, and one for each visitor', async () => {
    const site = await weir.createSite();
    for (const name of ['one', 'two', 'three']) await collect({ site, name });
    await collect({ site, name: 'other', agent: FIREFOX });
    await collect({ site, name: 'known', fields: { visitor_id: 'v' } });
    await collect({ site, name: 'known2', fields: { visitor_id: 'v' } });
    const rows = await rowsByName(site, 6, 'session_id');
    const session = (name: string) => String(rows.get(name)?.session_id);
    expect(session('one')).not.toBe('');
    expect([session('two'), session('three')]).toEqual([session('one'), session('one')]);
    expect(session('known2')).toBe(session('known'));
    expect(new Set([session('one'), session('other'), session('known')]).size).toBe(3);
    expect([...rows.values()].every((row) => row.session_id !== '')).toBe(true);
  });

  test('an identify hit with an empty visitor_id stores the profile and links no visitor', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const identity = { user_id: 'u', email: 'u@a.example', plan: 'pro' };
    await collect({ site, name: '', fields: { type: 'identify', event_name: undefined, identity } });
    await weir.events(key, { name: 'after', user_id: 'u' });
    await weir.settled();
    const [profile] = await weir.rows('profiles', site, 1, 'profile_id, user_id, email, visitor_ids');
    const profile_id = expect.stringMatching(UUID_V5);
    expect(profile).toEqual({ profile_id, user_id: 'u', email: 'u@a.example', visitor_ids: [] });
    const [event] = await weir.rows('events', site, 1, 'event_name, visitor_id, profile_id');
    expect(event).toEqual({ event_name: 'after', visitor_id: '', profile_id: profile?.profile_id });
  });
});

describe('identify hits follow the rules of identities', () => {
  test('traits after the first 25 are dropped without a warning, and the visitor is linked', async () => {
    const site = await weir.createSite();
    const names = Array.from({ length: 28 }, (_, index) => `k${String(index).padStart(2, '0')}`);
    const identity = { user_id: 'u', ...Object.fromEntries(names.map((name) => [name, 1])) };
    const answer = await weir.collect({ site_id: site, visitor_id: 'v', session_id: 's', type: 'identify', identity });
    expect(answer.status).toBe(204);
    // ClickHouse fills the views one after the other. The profile can appear a moment before its traits.
    const profile = await eventually('the traits', async () => {
      const [found] = await weir.rows('profiles', site, 1, 'traits, visitor_ids');
      return keysOf(found?.traits).length > 0 ? found : undefined;
    });
    expect(keysOf(profile.traits).toSorted()).toEqual(names.slice(0, 25));
    expect(profile?.visitor_ids).toEqual(['v']);
  });
});

describe('behind a proxy', () => {
  test('the client IP is taken from X-Forwarded-For only as far as the trusted proxies go', async () => {
    const site = await weir.createSite();
    await collect({ site, name: 'plain', ip: '203.0.113.20' });
    await collect({ site, name: 'spoofed', ip: '198.51.100.1, 203.0.113.20' });
    await collect({ site, name: 'spaces', ip: ' 198.51.100.1 ,\t203.0.113.20 ' });
    await collect({ site, name: 'through', ip: '203.0.113.20, 127.0.0.1' });
    await collect({ site, name: 'port', ip: 'unknown, , 203.0.113.20' });
    const rows = await rowsByName(site, 5, 'visitor_id');
    expect(new Set([...rows.values()].map((row) => row.visitor_id)).size).toBe(1);
  });

  test('a header that is not a list of addresses does no harm', async () => {
    const site = await weir.createSite();
    const headers = [
      'garbage',
      ',,,',
      '999.1.1.1',
      `${'1.1.1.1,'.repeat(900)}2.2.2.2`,
      '::::',
      '<script>',
      '1.2.3.4:80',
    ];
    for (const [index, ip] of headers.entries()) await collect({ site, name: `h${index}`, ip });
    await rowsByName(site, headers.length, 'visitor_id');
  });
});

describe('bot rows are stored with the name of the bot', () => {
  test('a known bot has its name in the column bot; a browser has an empty text', async () => {
    const site = await weir.createSite();
    await collect({
      site,
      name: 'bot',
      agent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    });
    await collect({ site, name: 'person' });
    await eventually(
      'both rows',
      async () => (await weir.number(`SELECT count() FROM events WHERE site_id = '${site}'`)) === 2,
    );
    const rows = await rowsByName(site, 2, 'bot');
    expect(rows.get('bot')?.bot).toMatch(/google/i);
    expect(rows.get('person')?.bot).toBe('');
  });
});

function keysOf(traits: unknown): readonly string[] {
  return Object.keys((typeof traits === 'string' ? JSON.parse(traits) : traits) ?? {});
}

/**
 * All values of utm_source except the last three name paid traffic. Weir counts these visits as paid even without utm_medium. GA4's rules do not
 * (docs/stats.md).
 */
test('a tag of a paid source counts as paid also without a medium, and has the name of its source', async () => {
  const site = await weir.createSite();
  const told = {
    'facebook-ads': ['Paid Social', 'Facebook'],
    fbad: ['Paid Social', 'Facebook'],
    'Google-ads': ['Paid Search', 'Google'],
    adwords: ['Paid Search', 'Google'],
    'yt-ads': ['Paid Video', 'YouTube'],
    'Reddit-ads': ['Paid Social', 'Reddit'],
    taboola: ['Paid Other', 'Taboola'],
    threads: ['Organic Social', 'Threads'],
    'broadsheet-leads': ['Unassigned', 'broadsheet-leads'],
    roads: ['Unassigned', 'roads'],
  };
  for (const tag of Object.keys(told)) {
    await collect({ site, name: tag, fields: { url: `https://a.example/?utm_source=${tag}` } });
  }
  const rows = await rowsByName(site, Object.keys(told).length, 'channel, traffic_source');
  expect(Object.fromEntries([...rows].map(([tag, row]) => [tag, [row.channel, row.traffic_source]]))).toEqual(told);
});
