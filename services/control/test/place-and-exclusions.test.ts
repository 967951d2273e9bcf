import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { ExclusionType } from '@weir/domain/registry/site';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from './control-harness.ts';

const weir = useOpened(openControlHarness);

async function addSite(siteId: string): Promise<void> {
  expect((await weir.call('POST', '/sites', { name: 'N', domain: 'example.com', site_id: siteId })).status).toBe(201);
}

describe('whoami', () => {
  const ask = async (headers: Readonly<Record<string, string>> = {}) =>
    (await weir.call('GET', '/whoami', undefined, undefined, headers)).body.data;

  test('shows the header that gave the address, and the location', async () => {
    expect(await ask({ 'x-forwarded-for': '1.1.1.1, 81.2.69.142' })).toEqual({
      address: '81.2.69.142',
      header: 'x-forwarded-for',
      connection: '127.0.0.1',
      connection_trusted: true,
      country: 'GB',
      region: expect.stringMatching(/^GB-/),
      city: expect.any(String),
      timezone: 'Europe/London',
      geo: { data: expect.stringMatching(/^dbip /), problem: null },
      sent: { 'x-forwarded-for': '1.1.1.1, 81.2.69.142' },
      trusted_proxies: ['127.0.0.1'],
      client_ip_header: null,
      advice: [],
      crowded_sites: expect.any(Array),
    });
  });

  test.each([
    [{}, null, /sent no valid client address/],
    [{ 'x-forwarded-for': 'unknown' }, null, /sent no valid client address/],
    [{ forwarded: 'for="[fd00::7]"' }, 'forwarded', /fd00::7 is a private address/],
    [{ 'x-forwarded-for': '81.2.69.142', 'cf-connecting-ip': '8.8.8.8' }, 'x-forwarded-for', /set CLIENT_IP_HEADER/],
  ])('advice on %j', async (headers, header, advice) => {
    const data = await ask(headers as Record<string, string>);
    expect([data.header, data.advice]).toEqual([header, [expect.stringMatching(advice)]]);
  });

  test('shows sites that get most hits from one network', async () => {
    for (let i = 0; i < 100; i += 1) weir.proxyDetector.count('crowded', '10.0.0.1', '10.0.0.1');
    expect((await ask()).crowded_sites).toEqual([{ site_id: 'crowded', hits: 100, percent: 100, private: true }]);
  });

  test('needs the admin token', async () => {
    expect((await weir.call('GET', '/whoami', undefined, 'wrong')).status).toBe(401);
  });
});

describe('the drops of each exclusion rule', () => {
  let made = 0;
  const hit = (siteId: string, visitorId: string, receivedAt: number) => {
    made += 1;
    const eventId = `01975a00-0000-7000-8000-${String(made).padStart(12, '0')}`;
    const head = {
      eventId,
      kind: 'collect',
      siteId,
      receivedAt,
      sealedIp: '',
      userAgent: 'x',
      acceptLanguage: '',
    } as const;
    const body = { site_id: siteId, visitor_id: visitorId, session_id: 's', type: 'pageview' };
    return { partition: 0, value: encodeRawRecord(head, JSON.stringify(body)) };
  };

  test('the number of dropped hits, and the time of the last one', async () => {
    await addSite('counted');
    const add = async (value: string) =>
      (await weir.call('POST', '/sites/counted/exclusions', { type: 'visitor', value })).body.data;
    const [busy, idle] = [await add('colleague'), await add('stranger')];
    expect(busy).toMatchObject({ dropped: 0, last_dropped_at: null });
    const now = Date.now();
    const older = now - 600_000;
    const hits = [hit('counted', 'colleague', older), hit('counted', 'colleague', now), hit('counted', 'v', now)];
    await weir.eventLog.append(TOPIC_RAW, hits);
    const listed = async () => (await weir.call('GET', '/sites/counted/exclusions')).body.data;
    await eventually('both hits are counted', async () => (await listed())[0]?.dropped === 2);
    const minute = new Date(Math.floor(now / 60_000) * 60_000).toISOString();
    const last = [minute, busy.created_at as string].toSorted()[1];
    expect(await listed()).toEqual([
      { ...busy, dropped: 2, last_dropped_at: last },
      { ...idle, dropped: 0, last_dropped_at: null },
    ]);
  });

  test('a site can have 10,000 rules, of which 1,000 may need to be tried one by one', async () => {
    await addSite('many-rules');
    const put = (type: ExclusionType, value: string) =>
      weir.registry.putExclusion({ ruleId: value, siteId: 'many-rules', type, value, createdAt: 0 });
    await Promise.all(Array.from({ length: 1000 }, (_, i) => put('user_agent', `agent-${i}`)));
    const add = async (type: string, value: string) =>
      (await weir.call('POST', '/sites/many-rules/exclusions', { type, value })).status;
    expect([await add('user_agent', 'x'), await add('path', '*/x')]).toEqual([409, 409]);
    expect([await add('path', '/x/*'), await add('ip', '192.0.2.1'), await add('hostname', 'a.b')]).toEqual([
      201, 201, 201,
    ]);
    await Promise.all(Array.from({ length: 8997 }, (_, i) => put('path', `/${i}`)));
    expect(await add('path', '/y/*')).toBe(409);
  });
});

describe('POST /exclusions/test says which rule would drop a hit', () => {
  const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    await addSite('tested');
    for (const [type, value] of [
      ['ip', '192.0.2.0/24'],
      ['path', '/admin/*'],
      ['country', 'GB'],
      ['user_agent', 'Firefox'],
      ['bots', ''],
    ] as const) {
      const { status, body } = await weir.call('POST', '/sites/tested/exclusions', { type, value });
      expect(status).toBe(201);
      ids[type] = body.data.rule_id;
    }
  });
  const ask = (hit: object) => weir.call('POST', '/sites/tested/exclusions/test', hit);

  test.each([
    ['ip', { ip: '192.0.2.9', path: '/' }],
    ['ip', { ip: '::ffff:192.0.2.9' }],
    ['path', { path: '/admin/users', user_agent: BOT }],
    ['country', { ip: '81.2.69.142' }],
    ['country', { country: 'gb' }],
    ['user_agent', { user_agent: 'mozilla firefox' }],
    ['bots', { user_agent: BOT, ip: '8.8.8.8' }],
    ['bots', { user_agent: '' }],
  ])('%s: %j', async (type, hit) => {
    const { status, body } = await ask(hit);
    expect([status, body.data]).toMatchObject([
      200,
      { dropped: true, reason: `excluded_${type}`, rule: { rule_id: ids[type], type } },
    ]);
  });

  test('a hit that no rule drops', async () => {
    const hit = { ip: '8.8.8.8', path: '/', hostname: 'example.com', visitor_id: 'v', country: null };
    expect((await ask(hit)).body.data).toEqual({ dropped: false, reason: null, rule: null, country: 'US', bot: '' });
    expect((await ask({})).body.data.dropped).toBe(false);
    expect((await weir.call('GET', '/sites/tested/exclusions')).body.data).toHaveLength(5);
  });

  test.each([{ ip: 'localhost' }, { path: 5 }, { user_agent: 'x'.repeat(1025) }])('400: %j', async (hit) => {
    expect((await ask(hit)).status).toBe(400);
  });
});
