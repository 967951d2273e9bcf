import type { JsonObject } from '@weir/domain/json/json';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { useOpened } from '@weir/testkit/use-opened';
import fc from 'fast-check';
import { openGeo } from '../../src/geo/open-geo.ts';
import { createBatchOverlay } from '../../src/pipeline/batch-overlay.ts';
import { createEnrichment } from '../../src/pipeline/pipeline.ts';
import { CHROME, IP, NOW, openEnrichHarness, pageview, parseLine, rawBytes, SITE } from './enrich-harness.ts';

const HOUR_MS = 3600_000;
const harness = useOpened(openEnrichHarness);

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
    expect(JSON.parse(parseLine(text).detail as string)).toMatchObject({
      topic: 'events.raw',
      partition: 0,
      stage: 'enricher',
      payload: expect.any(String),
    });
  });
});

test('step_failed: a step that throws makes a dead letter that can be redriven, without any address', async () => {
  const broken = createEnrichment({
    registry: harness.registry,
    geo: {
      version: 'broken',
      generation: 0,
      lookup(ip) {
        throw new TypeError(`no place for ${ip}`);
      },
    },
    logId: 'log',
  });
  const value = rawBytes({
    kind: 'event',
    ip: IP,
    body: { name: 'e', context: { ip: '8.8.8.8', user_agent: CHROME } },
  });
  const record = broken.decode({ offset: 7, value, appendedAt: NOW }, 3);
  const state = createBatchOverlay(broken.prepare(record, new Map()), []);
  const text = Buffer.from(broken.enrich(record, { state, firstSeen: undefined }).row).toString();
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
  expect(detail).toMatchObject({
    partition: 3,
    offset: 7,
    stage: 'enricher',
    error: 'put-geo: no place for [address]',
  });
  expect(JSON.parse(detail.payload)).toMatchObject({
    kind: 'event',
    ip: '',
    body: { name: 'e', context: { user_agent: CHROME } },
  });
});

test.each([60, 5_000, 30_000])(
  'step_failed: a record with %d levels in a field that Weir ignores makes a dead letter too, without any address',
  (levels) => {
    const broken = createEnrichment({
      registry: harness.registry,
      geo: {
        version: 'broken',
        generation: 0,
        lookup(ip) {
          throw new TypeError(`no place for ${ip}`);
        },
      },
      logId: 'log',
    });
    const ignored = `${'['.repeat(levels)}1${']'.repeat(levels)}`;
    const text = Buffer.from(rawBytes({ kind: 'event', ip: IP, body: { name: 'e', ignored: 'here' } })).toString();
    const value = Buffer.from(text.replace('"here"', ignored));
    const record = broken.decode({ offset: 7, value, appendedAt: NOW }, 0);
    const state = createBatchOverlay(broken.prepare(record, new Map()), []);
    const row = Buffer.from(broken.enrich(record, { state, firstSeen: undefined }).row).toString();
    const line = parseLine(row);
    expect(line).toMatchObject({ outcome: 'dead', reason: 'step_failed', site_id: SITE, raw_offset: 7 });
    expect(row).not.toContain(IP);
    expect(JSON.parse(line.detail as string).payload).toContain(ignored);
  },
);

test('step_failed: a step that throws in its first phase also makes a dead letter', async () => {
  const { registry } = harness;
  const geo = await openGeo({});
  const enrichment = createEnrichment({ registry, geo, logId: 'log' });
  const value = rawBytes({ ip: IP, body: pageview({ visitor_id: '', session_id: '' }) });
  const record = enrichment.decode({ offset: 7, value, appendedAt: NOW }, 0);
  // Simulates a bug: the salts are empty, so `put-visitor` throws. The real enricher never calls `prepare` without the salt of the day.
  const salts = new Map<string, string>();
  const keys = enrichment.prepare(record, salts);
  const state = createBatchOverlay(keys, []);
  const line = parseLine(Buffer.from(enrichment.enrich(record, { state, firstSeen: undefined }).row).toString());
  expect(line).toMatchObject({ outcome: 'dead', reason: 'step_failed', raw_offset: 7 });
  geo.close();
});

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.string({ maxLength: 70 }),
  fc.constantFrom(
    '\ud83d',
    'a\udc00b',
    '\0',
    '%',
    '%zz',
    '\u202e',
    'https://[',
    'https://a.b/%ff?utm_source=%',
    '__proto__',
  ),
);
const fields: fc.Arbitrary<JsonObject> = fc.record<JsonObject>(
  Object.fromEntries(
    `visitor_id session_id user_id url hostname pathname referrer language timezone utm_source ref source via name value
     event_name event_value email idempotency_key device_type platform`
      .split(/\s+/)
      .map((name) => [name, text]),
  ),
  { requiredKeys: [] },
);

test('each record has exactly one outcome, whatever text is in its fields', async () => {
  await fc.assert(
    fc.asyncProperty(fields, fields, text, async (body, more, agent) => {
      const context = { userAgent: agent, acceptLanguage: agent, ip: IP };
      const lines = await harness.lines([
        rawBytes({ ...context, body: pageview({ ...body, properties: more }) }),
        rawBytes({ ...context, body: pageview({ ...body, type: 'identify', identity: { user_id: agent, ...more } }) }),
        rawBytes({ ...context, kind: 'event', body: { name: 'e', ...body, properties: more, context: more } }),
        rawBytes({ ...context, kind: 'event', body: { name: 'e', user_id: body.user_id ?? agent } }),
        rawBytes({ ...context, kind: 'identify', body: { visitor_id: 'v', user_id: agent, ...more } }),
        rawBytes({ ...context, kind: 'import', body: { ...body, timestamp: NOW } }),
      ]);
      expect(lines.map((line) => JSON.parse(line).length)).toEqual(lines.map(() => RECORDS_COLUMNS.length));
    }),
  );
});

describe('the client IP is in no row (docs/api.md)', () => {
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
