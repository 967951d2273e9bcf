import { useOpened } from '@weir/testkit/use-opened';
import { createRowColumns } from '../../src/encoding/row-columns.ts';
import { createRowEncoder } from '../../src/encoding/row-encoding.ts';
import { CHROME, NOW, openEnrichHarness, pageview, rawBytes, SITE } from '../pipeline/enrich-harness.ts';

const harness = useOpened(openEnrichHarness);

describe('row encoding: each column of records-columns.ts has the right value', () => {
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
      enrichment: expect.stringMatching(/^steps-\d+\.\d+ ua-1\.0\.41 lists-[0-9a-f]{8} geo-.*\d{4}-\d\d-\d\d$/),
      bot: '',
      bot_reason: '',
      idempotency_key: '',
      log_id: expect.stringMatching(/./),
      raw_partition: 0,
      raw_offset: expect.any(Number),
      detail: '',
      visit_stamp: 1,
      visit_started: NOW,
      visit_new: 1,
      visit_bounces: 1,
      visit_seconds: 0,
      visit_entry: '/p%20a',
      visit_source: 'newsletter',
      visit_channel: 'Email',
      visit_referrer_domain: 'google.com',
      visit_utm_source: 'newsletter',
      visit_utm_medium: 'email',
      visit_utm_campaign: 'c',
      visit_utm_term: 't',
      visit_utm_content: 'n',
    });
  });

  test('a server event: value, properties, key, and the device and platform that the caller sent', async () => {
    const [row, decimal] = await harness.enrich(
      {
        kind: 'event',
        body: {
          name: 'paid',
          value: 12.5,
          properties: { plan: 'pro', n: { deep: [1, null] } },
          external_id: 'x1',
          idempotency_key: 'row-encoding-1',
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
      idempotency_key: 'row-encoding-1',
      device_type: 'kiosk',
      platform: 'pos',
      browser: 'Chrome',
      visitor_id: '',
      channel: '',
    });
    expect(decimal).toMatchObject({ value: 12.5, value_text: '12.50' });
  });

  test('a lone surrogate, which ClickHouse refuses, becomes U+FFFD; a backslash before it is kept', async () => {
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

describe('createRowEncoder refuses a table that does not hold exactly the columns of records-columns.ts, in order', () => {
  const empty = (): string => '""';
  const table = createRowColumns({ logId: 'log', enrichmentJson: empty, timezoneJson: empty, languageJson: empty });

  test('the complete table is accepted', () => {
    expect(() => createRowEncoder(table)).not.toThrow();
  });

  test.each([
    ['an entry is missing', table.toSpliced(3, 1)],
    ['an entry is there twice', [...table, table[0] as (typeof table)[number]]],
    ['two entries changed places', table.with(1, table[2] as never).with(2, table[1] as never)],
    ['an entry has its columns in another order', table.with(0, reversed(table[0] as (typeof table)[number]))],
  ])('%s', (_, broken) => {
    expect(() => createRowEncoder(broken)).toThrow(/column \d+ of the row table is \w+; records-columns.ts has \w+/);
  });

  function reversed(entry: (typeof table)[number]): (typeof table)[number] {
    return { ...entry, columns: entry.columns.toReversed() };
  }
});
