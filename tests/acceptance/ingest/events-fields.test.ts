import { ACCEPTED, astral, expectEnvelope, expectJson } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';

beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

const accepts = async (body: unknown) => expectJson(await weir.events(key, body), 202, ACCEPTED);
const refuses = async (body: unknown, message: RegExp) => expectEnvelope(await weir.events(key, body), 400, message);

describe('field and value limits of events: at the limit and one above it', () => {
  test.each([
    ['name', 128],
    ['event_name', 128],
    ['visitor_id', 64],
    ['visitorId', 64],
    ['session_id', 64],
    ['sessionId', 64],
    ['user_id', 256],
    ['userId', 256],
    ['external_id', 256],
    ['externalId', 256],
    ['value', 256],
    ['event_value', 256],
    ['url', 4096],
    ['referrer', 4096],
    ['pathname', 4096],
    ['hostname', 255],
  ])('%s: up to %i chars, which are code points', async (field, max) => {
    const base = field === 'name' || field === 'event_name' ? {} : { name: 'edge' };
    await accepts({ ...base, [field]: 'x'.repeat(max) });
    await accepts({ ...base, [field]: astral(max) });
    await refuses({ ...base, [field]: 'x'.repeat(max + 1) }, new RegExp(field.split('_')[0] ?? ''));
    await refuses({ ...base, [field]: astral(max + 1) }, /./);
  });

  test.each([
    ['url', 4096],
    ['referrer', 4096],
    ['pathname', 4096],
    ['hostname', 255],
    ['user_agent', 1024],
    ['device_type', 32],
    ['platform', 32],
  ])('context.%s: up to %i chars', async (field, max) => {
    await accepts({ name: 'edge', context: { [field]: 'x'.repeat(max) } });
    await accepts({ name: 'edge', context: { [field]: astral(max) } });
    await refuses({ name: 'edge', context: { [field]: 'x'.repeat(max + 1) } }, new RegExp(field));
  });

  test('idempotency key: 1 to 128 chars matching ^[A-Za-z0-9_.:-]{1,128}$', async () => {
    const all = `${site.replace(/[^A-Za-z0-9]/g, '')}azAZ09_.:-`;
    await accepts({ name: 'x', idempotency_key: all.padEnd(128, 'k') });
    await accepts({ name: 'x', idempotencyKey: 'k' });
    for (const wrong of ['k'.repeat(129), 'a b', 'a/b', 'ä', 'a\n', '\na', 'a\u0000', 'a+b', 'a@b', ' ']) {
      await refuses({ name: 'x', idempotency_key: wrong }, /idempotency_key must match/);
      await refuses({ name: 'x', idempotencyKey: wrong }, /must match/);
    }
  });

  test('a name of 128 chars is stored completely', async () => {
    const own = await weir.createSite();
    await weir.events((await weir.createKey(own)).key, { name: astral(128) });
    expect(await weir.rows('events', own, 1, 'event_name')).toEqual([{ event_name: astral(128) }]);
  });
});

describe('types', () => {
  test.each([
    ['visitor_id', 1],
    ['session_id', {}],
    ['user_id', true],
    ['external_id', []],
    ['value', true],
    ['value', {}],
    ['value', [1]],
    ['timestamp', true],
    ['timestamp', {}],
    ['context', 'text'],
    ['context', []],
    ['url', 1],
    ['pathname', false],
    ['hostname', {}],
    ['referrer', 0],
  ])('%s as %j is 400 and the message names it', async (field, value) => {
    await refuses({ name: 'x', [field]: value }, new RegExp(field));
  });

  test.each(['url', 'pathname', 'hostname', 'referrer', 'ip', 'user_agent', 'device_type', 'platform'])(
    'context.%s that is not a string is 400',
    async (field) => {
      await refuses({ name: 'x', context: { [field]: 1 } }, new RegExp(field));
    },
  );
});

describe('null and empty mean absent; unknown top-level fields are ignored', () => {
  const fields = [
    'value',
    'properties',
    'visitor_id',
    'session_id',
    'user_id',
    'external_id',
    'idempotency_key',
    'timestamp',
    'context',
    'url',
    'pathname',
    'hostname',
    'referrer',
    'metadata',
    'event_properties',
    'event_value',
  ];

  test('null is accepted in every optional field', async () => {
    await accepts({ name: 'x', ...Object.fromEntries(fields.map((field) => [field, null])) });
  });

  test('an empty string is accepted in every optional string', async () => {
    const strings = fields.filter((field) => !/properties|context|metadata/.test(field));
    await accepts({ name: 'x', ...Object.fromEntries(strings.map((field) => [field, ''])) });
    const context = ['url', 'pathname', 'hostname', 'referrer', 'ip', 'user_agent', 'device_type', 'platform'];
    await accepts({ name: 'x', context: Object.fromEntries(context.map((field) => [field, ''])) });
    await accepts({ name: 'x', context: Object.fromEntries(context.map((field) => [field, null])) });
  });

  test('events with an empty or null idempotency key are never duplicates', async () => {
    for (const idempotency_key of ['', '', null, null]) await accepts({ name: 'x', idempotency_key });
  });

  test('unknown fields are ignored, also in context', async () => {
    const unknown = { unknown: { deep: [1, { a: null }] }, __proto__x: 1, site_id: 'another' };
    await accepts({ name: 'x', ...unknown, context: { ...unknown, os: 5 } });
    await accepts('{"name":"x","__proto__":{"a":1},"constructor":{"prototype":{"b":1}},"toString":1}');
  });
});

describe('aliases and their precedence', () => {
  test('each alias is read; of two aliases the first in the list wins', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    const sent = [
      { event_name: 'aliases', event_value: 2, metadata: { a: 'm' }, visitorId: 'vc', sessionId: 'sc', userId: 'uc' },
      { name: 'event_properties', event_properties: { a: 'e' }, externalId: 'xc', idempotencyKey: 'ic' },
      { name: 'name', event_name: 'loses' },
      { eventName: 'camel', eventValue: '4.5', eventProperties: { a: 'c' } },
      { event_name: 'event_name', eventName: 'loses', event_value: 5, eventValue: 6 },
      { name: 'last', event_properties: { a: 'e' }, eventProperties: { a: 'c' }, event_value: null, eventValue: 7 },
      { name: 'value', value: 1, event_value: 2, eventValue: 3 },
      { name: 'properties', properties: { a: 'p' }, metadata: { a: 'm' }, event_properties: { a: 'e' } },
      { name: 'metadata', metadata: { a: 'm' }, event_properties: { a: 'e' } },
      { name: 'snake', visitor_id: 'v', visitorId: 'no', session_id: 's', sessionId: 'no', user_id: 'u', userId: 'no' },
      { name: 'snake2', external_id: 'x', externalId: 'no', idempotency_key: 'i', idempotencyKey: 'no' },
      {
        name: 'absent',
        visitor_id: null,
        visitorId: 'v2',
        session_id: '',
        sessionId: 's2',
        value: null,
        event_value: 3,
      },
    ];
    for (const body of sent) expectJson(await weir.events(ownKey, body), 202, ACCEPTED);
    const columns =
      'event_name, value, toString(properties.a) AS a, toString(properties.external_id) AS x, visitor_id, session_id, user_id, idempotency_key';
    const rows = await weir.rows('events', own, sent.length, columns);
    const row = (name: string) => rows.find((found) => found.event_name === name);
    expect(row('aliases')).toMatchObject({ value: 2, a: 'm', visitor_id: 'vc', session_id: 'sc', user_id: 'uc' });
    expect(row('event_properties')).toMatchObject({ a: 'e', x: 'xc', idempotency_key: 'ic' });
    expect(row('camel')).toMatchObject({ value: 4.5, a: 'c' });
    expect(row('event_name')).toMatchObject({ value: 5 });
    expect(row('last')).toMatchObject({ value: 7, a: 'e' });
    expect(row('name')).toBeDefined();
    expect(row('value')).toMatchObject({ value: 1 });
    expect(row('properties')).toMatchObject({ a: 'p' });
    expect(row('metadata')).toMatchObject({ a: 'm' });
    expect(row('snake')).toMatchObject({ visitor_id: 'v', session_id: 's', user_id: 'u' });
    expect(row('snake2')).toMatchObject({ x: 'x', idempotency_key: 'i' });
    expect(row('absent')).toMatchObject({ visitor_id: 'v2', session_id: 's2', value: 3 });
  });

  test('a message names the alias that was sent', async () => {
    expectEnvelope(
      await weir.events(key, { eventName: 'x'.repeat(129) }),
      400,
      /^eventName must be at most 128 chars$/,
    );
    expectEnvelope(await weir.events(key, { name: 'x', eventValue: true }), 400, /^eventValue must be/);
    const eventProperties = { a: { b: { c: { d: { e: {} } } } } };
    expectEnvelope(await weir.events(key, { name: 'x', eventProperties }), 400, /^eventProperties /);
  });
});
