import { DUMP_COLUMNS, DUMP_VERSION } from '@weir/domain/dump/dump-format';
import { entryOf, erasureHash } from '@weir/domain/erasure/tombstone';
import type { Json } from '@weir/domain/json/json';
import { profileId } from '@weir/domain/people/profile-id';
import { STAMP_COLUMNS } from '@weir/domain/records/records-columns';
import { CHROME, type EnrichHarness, IP, NOW, openEnrichHarness, parseLine, rawBytes, SITE } from './enrich-harness.ts';

let weir: EnrichHarness;
beforeEach(async () => {
  weir = await openEnrichHarness();
});
afterEach(() => weir.close());

const EVENT_ID = '0199a9a8-0000-7000-8000-000000000001';
const BEFORE = Date.UTC(2025, 1, 3);
const ROW: Readonly<Record<string, Json>> = {
  ...{
    outcome: 'row',
    event_id: EVENT_ID,
    source: 'collect',
    type: 'pageview',
    timestamp: BEFORE + 5,
    received_at: BEFORE,
  },
  ...{
    visitor_id: 'c_1',
    session_id: 's_1',
    cookieless: true,
    value: 0.1,
    properties: '{"big":9007199254740993,"a":{"b":[null]}}',
  },
  ...{
    url: 'https://example.com/ü?utm_source=x',
    pathname: '/secret',
    channel: 'Made up',
    country: 'XX',
    browser: 'Old "1"',
  },
  ...{
    screen_width: 1,
    screen_height: 2,
    enrichment: 'of before',
    idempotency_key: 'k',
    bot: '',
    detail: '{"session_moved":true}',
  },
};
const dumped = (values: Readonly<Record<string, Json>>, dump = 1) => ({
  kind: 'dumped' as const,
  eventId: EVENT_ID,
  receivedAt: NOW,
  body: { dump, row: DUMP_COLUMNS.map((column) => values[column] ?? '') },
});

test('a dumped row is stored as it stands, whatever the rules, the page and the data of now say', async () => {
  await weir.exclude('path', '/secret');
  const [line] = await weir.enrich(dumped(ROW));
  const { site_id, log_id, raw_partition, raw_offset, properties, ...rest } = line ?? {};
  const { properties: _, ...expected } = ROW;
  const noStamp = { visit_stamp: 0, visit_started: 0, visit_new: 0, visit_bounces: 0, visit_seconds: 0 };
  expect(rest).toEqual({
    ...Object.fromEntries(STAMP_COLUMNS.map((name) => [name, ''])),
    ...noStamp,
    ...Object.fromEntries(
      DUMP_COLUMNS.filter((name) => name !== 'properties').map((name) => [name, expected[name] ?? '']),
    ),
  });
  expect([site_id, raw_partition, raw_offset]).toEqual([SITE, 0, expect.any(Number)]);
  expect(log_id).not.toBe('');
  expect(properties).toBeDefined();
});

test('every digit of its properties stays', async () => {
  const { body, ...head } = dumped(ROW);
  const record = Buffer.from(
    JSON.stringify({ siteId: SITE, sealedIp: '', userAgent: '', acceptLanguage: '', ...head, body }),
  );
  expect((await weir.lines([record])).join()).toContain('"big":9007199254740993');
});

test('the profile ID of an identify is that of the site that it is imported into', async () => {
  const detail = `{"profile_id":"${profileId('old', 'u$&1')}","user_id":"u$&1","traits":{"n":9007199254740993}}`;
  const identify = { ...ROW, outcome: 'identify', type: 'identify', user_id: 'u$&1', properties: '{}', detail };
  const [line] = await weir.enrich(dumped(identify));
  expect(line?.detail).toBe(detail.replace(profileId('old', 'u$&1'), profileId(SITE, 'u$&1')));
});

test('a dumped row claims no key and touches no session: live records are what they were', async () => {
  const live = { kind: 'collect' as const, sealedIp: '', ip: IP, userAgent: CHROME, receivedAt: NOW };
  const hit = { site_id: SITE, visitor_id: 'v', session_id: '', type: 'pageview', url: 'https://example.com/' };
  const event = { kind: 'event' as const, receivedAt: NOW, body: { name: 'x', idempotency_key: 'k' } };
  const [, first, server] = await weir.enrich(
    dumped({ ...ROW, visitor_id: 'v', timestamp: NOW }),
    { ...live, body: hit },
    event,
  );
  expect([first?.session_id === 's_1', server?.outcome]).toEqual([false, 'row']);
});

test.each([
  ['dump has an unknown version', dumped(ROW, DUMP_VERSION + 1)],
  ['row event_id is invalid', dumped({ ...ROW, event_id: 'x' })],
  ['row detail is invalid', dumped({ ...ROW, outcome: 'identify', user_id: 'u', detail: '{"user_id":"u"}' })],
  ['row must be a list of values', { ...dumped(ROW), body: { dump: 1 } }],
])('a record that cannot be read is a dead letter: %s', async (error, record) => {
  const [line] = await weir.enrich(record);
  expect([line?.outcome, line?.reason, String(line?.detail)]).toEqual([
    'dead',
    'unreadable',
    expect.stringContaining(error),
  ]);
});

test('without its site, it is dropped', async () => {
  const [line] = await weir.enrich({ ...dumped(ROW), siteId: 'gone', receivedAt: NOW - 60_000 });
  expect([line?.outcome, line?.reason, line?.source]).toEqual(['dropped', 'site_removed', 'import']);
});

test('a row that was received before its erasure is not taken back, whenever the dump is imported', async () => {
  const tombstone = { siteId: SITE, erasureId: 'e', part: 0, at: BEFORE + 1, salt: 's', whole: true, entries: [] };
  await weir.registry.putTombstone(tombstone);
  const later = { ...ROW, received_at: BEFORE + 2 };
  const lines = await weir.enrich(dumped(ROW), dumped(later));
  expect(lines.map((line) => [line.outcome, line.pathname, line.received_at])).toEqual([
    ['erased', '', BEFORE],
    ['row', ROW.pathname, BEFORE + 2],
  ]);
});

test('an erased payment customer that was sent as a long number is compared with all of its digits', async () => {
  const id = '900719925474099301';
  const entries = [entryOf('c', erasureHash('s', SITE, 'c', id))];
  await weir.registry.putTombstone({
    siteId: SITE,
    erasureId: 'e',
    part: 0,
    at: NOW,
    salt: 's',
    whole: false,
    entries,
  });
  const event = (digits: string): Buffer => {
    const body = { name: 'payment', value: 1, properties: { payment_customer_id: 'DIGITS' } };
    return Buffer.from(String(rawBytes({ kind: 'event', body })).replace('"DIGITS"', digits));
  };
  const row = (digits: string): Buffer =>
    Buffer.from(rawBytes(dumped({ ...ROW, properties: `{"payment_customer_id":${digits}}` })));
  const rounded = String(Number(id));
  const texts = await weir.lines([event(id), event(rounded), row(id), row(rounded)]);
  expect(texts.map((text) => parseLine(text).outcome)).toEqual(['erased', 'row', 'erased', 'row']);
});
