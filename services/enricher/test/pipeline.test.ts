import { profileId } from '@weir/domain/profile-id';
import { createBatchOverlay } from '../src/batch-overlay.ts';
import { createEnrichment } from '../src/pipeline.ts';
import {
  CHROME,
  type EnrichHarness,
  IP,
  NOW,
  openEnrichHarness,
  pageview,
  parseLine,
  rawBytes,
  SITE,
} from './enrich-harness.ts';

const HOUR_MS = 3600_000;
let harness: EnrichHarness;
beforeAll(async () => {
  harness = await openEnrichHarness();
});
afterAll(() => harness.close());

describe('to-line: every column of records-columns.ts in its place', () => {
  test('a page view of the snippet', async () => {
    const eventId = '01975a00-1111-7000-8000-000000000001';
    const [row] = await harness.enrich({
      eventId,
      acceptLanguage: 'de-CH, de;q=0.9, en;q=0.8',
      body: pageview({
        url: 'https://www.example.com/p%20a?utm_source=newsletter&utm_term=t&gclid=1&source=s2#frag',
        referrer: 'https://www.google.com/search?q=x',
        utm_medium: 'email',
        utm_campaign: 'c',
        utm_content: 'n',
        ref: 'r',
        via: 'w',
        screen_width: 1920,
        screen_height: 1080,
      }),
    });
    expect(row).toEqual({
      outcome: 'row',
      reason: '',
      rule_id: '',
      site_id: SITE,
      event_id: eventId,
      source: 'collect',
      type: 'pageview',
      event_name: '',
      timestamp: NOW,
      received_at: NOW,
      visitor_id: 'v1',
      session_id: 's1',
      user_id: '',
      cookieless: false,
      value: null,
      value_text: '',
      properties: {},
      url: 'https://www.example.com/p%20a?utm_source=newsletter&utm_term=t&gclid=1&source=s2',
      hostname: 'www.example.com',
      pathname: '/p%20a',
      referrer: 'https://www.google.com/search?q=x',
      referrer_domain: 'google.com',
      utm_source: 'newsletter',
      utm_medium: 'email',
      utm_campaign: 'c',
      utm_term: 't',
      utm_content: 'n',
      ref: 'r',
      source_param: 's2',
      via: 'w',
      click_id_type: 'gclid',
      channel: 'Email',
      traffic_source: 'newsletter',
      country: 'GB',
      region: expect.stringMatching(/^GB-/),
      city: expect.stringMatching(/./),
      timezone: 'Europe/London',
      browser: 'Chrome',
      browser_version: '126.0.0.0',
      os: 'Windows',
      os_version: '10',
      device_type: 'desktop',
      device_brand: '',
      device_model: '',
      platform: 'Windows',
      screen_width: 1920,
      screen_height: 1080,
      language: 'de-CH',
      enrichment: expect.stringMatching(/^steps-\d+ ua-1\.0\.41 lists-[0-9a-f]{8} geo-.*\d{4}-\d\d-\d\d$/),
      bot: '',
      idempotency_key: '',
      log_id: expect.stringMatching(/./),
      raw_partition: 0,
      raw_offset: expect.any(Number),
      detail: '',
    });
  });

  test('a server event: value, properties, key, what the caller says of device and platform', async () => {
    const [row, decimal] = await harness.enrich(
      {
        kind: 'event',
        body: {
          name: 'paid',
          value: 12.5,
          properties: { plan: 'pro', n: { deep: [1, null] } },
          external_id: 'x1',
          idempotency_key: 'to-line-1',
          timestamp: '2026-06-01T00:00:00.250Z',
          context: { device_type: 'kiosk', platform: 'pos', user_agent: CHROME },
        },
      },
      { kind: 'event', body: { name: 'paid', value: '12.50' } },
    );
    expect(row).toMatchObject({
      source: 'server',
      type: 'event',
      event_name: 'paid',
      timestamp: Date.UTC(2026, 5, 1) + 250,
      received_at: NOW,
      value: 12.5,
      value_text: '',
      properties: { plan: 'pro', n: { deep: [1, null] }, external_id: 'x1' },
      idempotency_key: 'to-line-1',
      device_type: 'kiosk',
      platform: 'pos',
      browser: 'Chrome',
      visitor_id: '',
      channel: '',
    });
    expect(decimal).toMatchObject({ value: 12.5, value_text: '12.50' });
  });

  test('half a surrogate pair, which ClickHouse refuses, becomes U+FFFD; a backslash before it stays', async () => {
    const body = pageview({
      type: 'event',
      event_name: 'a\ud800b',
      event_properties: { a: '\udc00', b: '\\ud800', c: '😀' },
    });
    const [row] = await harness.enrich({ body });
    expect(row).toMatchObject({ event_name: 'a\ufffdb', properties: { a: '\ufffd', b: '\\ud800', c: '😀' } });
  });

  test('__proto__ and constructor are ordinary keys', async () => {
    const body = JSON.parse('{"name":"e","external_id":"x","properties":{"__proto__":{"a":1},"constructor":2}}');
    const [text] = await harness.lines([rawBytes({ kind: 'event', body })]);
    expect(text).toContain('{"__proto__":{"a":1},"constructor":2,"external_id":"x"}');
  });
});

describe('claim-key (design, Exactly once, 4)', () => {
  const event = (key: string, receivedAt: number) =>
    ({ kind: 'event', receivedAt, body: { name: 'e', idempotency_key: key } }) as const;

  test('a duplicate only of another record that was received less than 24 h before', async () => {
    const outcomes = await harness.enrich(event('k1', NOW), event('k1', NOW + 24 * HOUR_MS - 1), event('k2', NOW));
    expect(outcomes.map((line) => line.outcome)).toEqual(['row', 'duplicate', 'row']);
    const [later] = await harness.enrich(event('k1', NOW + 24 * HOUR_MS));
    expect(later?.outcome).toBe('row');
  });

  test('a duplicate leaves nothing but its outcome', async () => {
    const [, line] = await harness.enrich(event('k3', NOW), event('k3', NOW));
    expect(line).toMatchObject({ outcome: 'duplicate', reason: '', event_name: '', idempotency_key: '', detail: '' });
  });
});

describe('link-visitor (decisions.md, Linking)', () => {
  test('one with only a user_id belongs to the visitor that this user was last identified on', async () => {
    const event = { kind: 'event', body: { name: 'e', user_id: 'u1' } } as const;
    const identify = (visitor: string) =>
      ({ kind: 'identify', body: { visitor_id: visitor, user_id: 'u1', email: 'a@b.c', plan: null } }) as const;
    const lines = await harness.enrich(event, identify('va'), event, identify('vb'), event);
    expect(lines.map((line) => line.visitor_id)).toEqual(['', 'va', 'va', 'vb', 'vb']);
    expect(lines[1]).toMatchObject({ outcome: 'identify', source: 'server', user_id: 'u1' });
    expect(JSON.parse(lines[1]?.detail as string)).toEqual({
      profile_id: profileId(SITE, 'u1'),
      user_id: 'u1',
      email: 'a@b.c',
      traits: { plan: null },
    });
    const [next] = await harness.enrich(event);
    expect(next?.visitor_id).toBe('vb');
  });

  test('an identify hit of the browser links too; with an empty visitor_id it stores the profile and links no visitor', async () => {
    const hit = (visitor: string) => ({
      body: pageview({ type: 'identify', visitor_id: visitor, session_id: '', identity: { user_id: 'u2', name: 'N' } }),
    });
    const event = { kind: 'event', body: { name: 'e', user_id: 'u2' } } as const;
    const lines = await harness.enrich(hit(''), event, hit('vc'), event);
    expect(lines.map(({ outcome, visitor_id }) => [outcome, visitor_id])).toEqual([
      ['identify', ''],
      ['row', ''],
      ['identify', 'vc'],
      ['row', 'vc'],
    ]);
    expect(JSON.parse(lines[0]?.detail as string)).toEqual({
      profile_id: profileId(SITE, 'u2'),
      user_id: 'u2',
      name: 'N',
    });
  });

  test('a visitor_id wins, and external_id links nothing', async () => {
    const [line] = await harness.enrich({ kind: 'event', body: { name: 'e', visitor_id: 'vz', user_id: 'u1' } });
    expect(line).toMatchObject({ visitor_id: 'vz', user_id: 'u1' });
    const [other] = await harness.enrich({ kind: 'event', body: { name: 'e', external_id: 'u1' } });
    expect(other).toMatchObject({ visitor_id: '', properties: { external_id: 'u1' } });
  });
});

describe('put-visitor: cookieless (decisions.md, POST /api/collect)', () => {
  const hit = (fields: { ip?: string; userAgent?: string; receivedAt?: number } = {}) => ({
    ...fields,
    body: pageview({ visitor_id: '', session_id: '' }),
  });

  test('c_ and 16 bytes in hex, the same for address and agent on one day, another on the next', async () => {
    const lines = await harness.enrich(hit(), hit(), hit({ ip: '81.2.69.143' }), hit({ userAgent: 'Other/1' }));
    const [first, second, third, fourth] = lines.map((line) => line.visitor_id as string);
    expect(first).toMatch(/^c_[0-9a-f]{32}$/);
    expect(lines[0]?.cookieless).toBe(true);
    expect(second).toBe(first);
    expect(new Set([first, third, fourth]).size).toBe(3);
  });

  test('an IPv6 address counts as its /64', async () => {
    const [a, b, c] = await harness.enrich(
      hit({ ip: '2001:db8:1:2::1' }),
      hit({ ip: '2001:db8:1:2:ffff::9' }),
      hit({ ip: '2001:db8:1:3::1' }),
    );
    expect(b?.visitor_id).toBe(a?.visitor_id);
    expect(c?.visitor_id).not.toBe(a?.visitor_id);
  });

  test('an imported line: the visitor changes with the day of the line', async () => {
    const line = (timestamp: number) => ({ kind: 'import' as const, body: { url: 'https://example.com/', timestamp } });
    const day = Date.UTC(2015, 4, 17);
    const rows = await harness.enrich(line(day), line(day + 23 * HOUR_MS), line(day + 24 * HOUR_MS));
    expect(rows[0]).toMatchObject({
      source: 'import',
      type: 'pageview',
      timestamp: day,
      received_at: NOW,
      cookieless: true,
    });
    expect(rows[1]?.visitor_id).toBe(rows[0]?.visitor_id);
    expect(rows[2]?.visitor_id).not.toBe(rows[0]?.visitor_id);
    expect(rows[1]?.session_id).not.toBe(rows[0]?.session_id);
  });
});

describe('put-session: "a new session after 30 minutes without a hit of that visitor"', () => {
  const at = (visitor: string, minutes: number, session = '') => ({
    receivedAt: NOW + minutes * 60_000,
    body: pageview({ visitor_id: visitor, session_id: session }),
  });

  test('30 idle minutes', async () => {
    const ids = (await harness.enrich(at('w1', 0), at('w1', 30), at('w1', 60), at('w1', 91))).map((l) => l.session_id);
    expect(ids[0]).toMatch(/^s_[0-9a-f]{32}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
    expect(ids[3]).not.toBe(ids[0]);
    const [next] = await harness.enrich(at('w1', 100));
    expect(next?.session_id).toBe(ids[3]);
  });

  test('the ID is a function of site, visitor and start, and a late hit finds its own session', async () => {
    const [a, b, late] = await harness.enrich(at('w2', 0), at('w2', 200), at('w2', 10));
    expect(a?.session_id).not.toBe(b?.session_id);
    expect(late?.session_id).toBe(a?.session_id);
    const [again] = await harness.enrich(at('w3', 0));
    expect(again?.session_id).not.toBe(a?.session_id);
  });

  test('a server event joins the current session, and neither starts nor prolongs one', async () => {
    const event = (visitor: string, minutes: number, session = '') =>
      ({
        kind: 'event',
        receivedAt: NOW + minutes * 60_000,
        body: { name: 'e', visitor_id: visitor, session_id: session },
      }) as const;
    const lines = await harness.enrich(
      event('w4', 0),
      at('w4', 1, 'mine'),
      event('w4', 20),
      event('w4', 32),
      event('w4', 33, 'given'),
      at('w4', 40),
    );
    expect(lines.slice(0, 5).map((line) => line.session_id)).toEqual(['', 'mine', 'mine', '', 'given']);
    expect(lines[5]?.session_id).toMatch(/^s_/);
  });

  test('a server event by user alone gets none: its visitor may be in another partition', async () => {
    await harness.enrich({ kind: 'identify', body: { visitor_id: 'w5', user_id: 'u5' } }, at('w5', 0));
    const [line] = await harness.enrich({ kind: 'event', body: { name: 'e', user_id: 'u5' } });
    expect(line).toMatchObject({ visitor_id: 'w5', session_id: '' });
  });
});

describe('dead letters', () => {
  test.each([
    ['not JSON', `{"ip":"${IP}","eventId":`],
    ['another kind', rawBytes({ kind: 'other' as never, body: {} })],
    ['a body that its schema refuses', rawBytes({ body: { type: 'pageview' } })],
    ['no time', rawBytes({ receivedAt: 'x' as never, body: pageview() })],
    ['an import without a time', rawBytes({ kind: 'import', body: { url: 'https://example.com/' } })],
    ['an event ID that is none', rawBytes({ eventId: 'x', body: pageview() })],
    ['nothing', ''],
  ])('unreadable: %s', async (_, value) => {
    harness.now = NOW + 5;
    const [text = ''] = await harness.lines([Buffer.from(value)]);
    harness.now = NOW;
    const [outcome, reason] = JSON.parse(text) as string[];
    expect([outcome, reason]).toEqual(['dead', 'unreadable']);
    expect(text).not.toContain(IP);
    const detail = JSON.parse((JSON.parse(text) as string[]).at(-1) ?? '');
    expect(detail).toMatchObject({ topic: 'events.raw', partition: 0, stage: 'enricher', payload: expect.any(String) });
  });
});

test('step_failed: a step that throws makes a dead letter that can be redriven, without any address', async () => {
  const broken = createEnrichment({
    registry: harness.registry,
    geo: {
      version: 'broken',
      lookup(ip) {
        throw new TypeError(`no place for ${ip}`);
      },
    },
    logId: 'log',
    clock: () => NOW,
  });
  const value = rawBytes({
    kind: 'event',
    ip: IP,
    body: { name: 'e', context: { ip: '8.8.8.8', user_agent: CHROME } },
  });
  const draft = broken.read({ offset: 7, value, appendedAt: NOW }, 3);
  const state = createBatchOverlay(broken.stateKeys(draft, new Map()), []);
  const text = Buffer.from(broken.finish(draft, { salts: new Map(), state, heldBy: undefined }).line).toString();
  const line = parseLine(text);
  expect(line).toMatchObject({
    outcome: 'dead',
    reason: 'step_failed',
    site_id: SITE,
    raw_partition: 3,
    raw_offset: 7,
  });
  expect(text).not.toMatch(/81\.2\.69\.142|8\.8\.8\.8/);
  const detail = JSON.parse(line.detail as string);
  expect(detail).toMatchObject({ partition: 3, offset: 7, stage: 'enricher', error: 'no place for [address]' });
  expect(JSON.parse(detail.payload)).toMatchObject({
    kind: 'event',
    ip: '',
    body: { name: 'e', context: { user_agent: CHROME } },
  });
});

describe('forget-address: the IP never reaches a line (decisions.md)', () => {
  test.each(['81.2.69.142', '2001:db8:85a3::8a2e:370:7334'])('%s', async (ip) => {
    const texts = await harness.lines([
      rawBytes({ ip, body: pageview() }),
      rawBytes({ ip, body: pageview({ visitor_id: '', session_id: '' }) }),
      rawBytes({ kind: 'event', body: { name: 'e', context: { ip } } }),
      rawBytes({ ip, kind: 'event', body: { name: 'e' } }),
      rawBytes({ ip, kind: 'identify', body: { visitor_id: 'v', user_id: 'u' } }),
      rawBytes({ ip, kind: 'import', body: { url: 'https://example.com/', timestamp: NOW } }),
      rawBytes({ ip, siteId: 'gone', receivedAt: NOW - HOUR_MS, body: pageview() }),
      rawBytes({ ip, kind: 'event', body: { name: '', context: { ip } } }),
      Buffer.from(`{"ip":"${ip}`),
    ]);
    for (const text of texts) expect(text).not.toContain(ip);
  });
});
