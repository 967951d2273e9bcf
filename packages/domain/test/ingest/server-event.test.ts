import { FieldError } from '../../src/ingest/field-error.ts';
import { readServerEvent, type ServerEvent } from '../../src/ingest/server-event.ts';
import type { JsonObject } from '../../src/json/json.ts';

function read(body: JsonObject): ServerEvent {
  const event = readServerEvent(body);
  if (event instanceof FieldError) throw new Error(event.message);
  return event;
}
const refusal = (body: JsonObject) => (readServerEvent(body) as FieldError).message;

describe('"Most fields accept either snake_case or camelCase. Only the event name is required."', () => {
  it('reads an event with only a name', () => {
    expect(read({ name: 'x' })).toEqual({
      name: 'x',
      value: undefined,
      valueText: '',
      properties: undefined,
      visitorId: '',
      sessionId: '',
      userId: '',
      externalId: '',
      idempotencyKey: '',
      timestamp: undefined,
      context: {
        url: '',
        pathname: '',
        hostname: '',
        referrer: '',
        ip: '',
        userAgent: '',
        deviceType: '',
        platform: '',
      },
    });
  });

  it.each([
    [{ name: 'x', visitorId: 'c' }, { visitorId: 'c' }],
    [{ name: 'x', visitor_id: 's', visitorId: 'c' }, { visitorId: 's' }],
    [{ name: 'x', visitor_id: null, visitorId: 'c' }, { visitorId: 'c' }],
    [{ name: 'x', session_id: '', sessionId: 'c' }, { sessionId: 'c' }],
    [{ name: 'n', event_name: 'e' }, { name: 'n' }],
    [{ event_name: 'e' }, { name: 'e' }],
    [{ name: ' ', event_name: 'e' }, { name: 'e' }],
    [{ name: ' ', event_name: '\t', eventName: 'c' }, { name: 'c' }],
    [{ name: 'x', visitor_id: ' ', visitorId: 'c' }, { visitorId: 'c' }],
    [{ name: 'x', value: 1, event_value: 2 }, { value: 1 }],
    [{ name: 'x', metadata: { a: 1 }, event_properties: { b: 1 } }, { properties: { a: 1 } }],
    [{ name: 'x', visitor_id: 'v', visitorId: 5 }, { visitorId: 'v' }],
  ])('%j', (body, expected) => {
    expect(read(body as JsonObject)).toMatchObject(expected);
  });
});

describe('a field in context takes precedence over the same field at the top level', () => {
  it('resolves shortcuts, and reads hostname and pathname from url if they were not sent', () => {
    expect(read({ name: 'x', url: 'https://a.example/p?q#f', context: { pathname: '/own' } }).context).toMatchObject({
      url: 'https://a.example/p?q#f',
      hostname: 'a.example',
      pathname: '/own',
    });
    expect(read({ name: 'x', url: '/only/path?q', referrer: 'r', context: { referrer: 'c' } }).context).toMatchObject({
      hostname: '',
      pathname: '/only/path',
      referrer: 'c',
    });
    expect(read({ name: 'x', hostname: 'top.example', context: { hostname: 'own.example' } }).context).toMatchObject({
      hostname: 'own.example',
    });
  });

  it.each(['', null])('uses the field at the top level if the field in context is %j', (absent) => {
    const fields = { url: 'https://a.example/p', pathname: '/top', hostname: 'top.example', referrer: 'r' };
    const context = { url: absent, pathname: absent, hostname: absent, referrer: absent };
    expect(read({ name: 'x', ...fields, context }).context).toMatchObject(fields);
  });
});

it('external_id is stored as properties.external_id', () => {
  expect(read({ name: 'x', external_id: 'e', properties: { a: 1 } }).properties).toEqual({ a: 1, external_id: 'e' });
  const event = read(JSON.parse('{"name":"x","external_id":"e","properties":{"__proto__":{"a":1}}}'));
  expect(JSON.stringify(event.properties)).toBe('{"__proto__":{"a":1},"external_id":"e"}');
});

describe('error messages contain the name of the field as it was sent, and the broken rule', () => {
  it.each([
    [{}, 'name is required'],
    [{ name: ' \u3000\n' }, 'name is required'],
    [{ event_name: 'x'.repeat(129) }, 'event_name must be at most 128 chars'],
    [{ name: ' ', event_name: '\t' }, 'name is required'],
    [{ name: ' ', event_name: 'x'.repeat(129) }, 'event_name must be at most 128 chars'],
    [{ name: 'x', visitor_id: ' ', visitorId: 5 }, 'visitorId must be a string'],
    [{ name: 'x', idempotency_key: ' ', idempotencyKey: 'a' }, 'idempotency_key must match ^[A-Za-z0-9_.:-]{1,128}$'],
    [{ name: 5 }, 'name must be a string'],
    [{ name: 'x', value: true }, 'value must be a finite number or a string'],
    [{ name: 'x', value: Number.POSITIVE_INFINITY }, 'value must be a finite number or a string'],
    [{ name: 'x', event_value: '1'.repeat(257) }, 'event_value must be at most 256 chars'],
    [{ name: 'x', idempotencyKey: 'a b' }, 'idempotencyKey must match ^[A-Za-z0-9_.:-]{1,128}$'],
    [{ name: 'x', idempotency_key: 'a\n' }, 'idempotency_key must match ^[A-Za-z0-9_.:-]{1,128}$'],
    [{ name: 'x', visitorId: '😀'.repeat(65) }, 'visitorId must be at most 64 chars'],
    [{ name: 'x', context: [] }, 'context must be an object'],
    [{ name: 'x', context: { ip: '1.2.3' } }, 'context.ip must be an IPv4 or IPv6 address'],
    [{ name: 'x', context: { url: 5 } }, 'context.url must be a string'],
    [{ name: 'x', url: 5 }, 'url must be a string'],
    [{ name: 'x', metadata: [] }, 'metadata must be an object'],
    [{ name: 'x', properties: '' }, 'properties must be an object'],
    [{ name: 'x', metadata: '' }, 'metadata must be an object'],
    [{ name: 'x', metadata: { a: { b: { c: { d: { e: {} } } } } } }, 'metadata must be at most 5 levels deep'],
  ])('%j: %s', (body, message) => {
    expect(refusal(body as JsonObject)).toBe(message);
  });

  it('counts code points', () => {
    expect(read({ name: '😀'.repeat(128), visitor_id: '😀'.repeat(64) }).visitorId).toHaveLength(128);
  });
});

describe('"A string that is a decimal number is also stored as a number."', () => {
  it.each([
    ['19.99', 19.99],
    ['-7', -7],
    ['+1', 1],
    ['.5', 0.5],
    ['0x10', undefined],
    ['1e3', undefined],
    ['12px', undefined],
    [' 1', undefined],
    ['Infinity', undefined],
  ])('%j', (value, number) => {
    expect(read({ name: 'x', value })).toMatchObject({ value: number, valueText: value });
  });
});
