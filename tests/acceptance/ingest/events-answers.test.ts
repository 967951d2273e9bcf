import { bearer, type TestKey } from '@weir/testkit/weir-client';
import { ACCEPTED, DUPLICATE, expectEnvelope, expectJson } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';
let identifyOnly: TestKey;
let legacy: TestKey;

beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
  identifyOnly = await weir.createKey(site, { scopes: ['identify:write'] });
  legacy = await weir.createKey(site, { scopes: undefined, legacy_identify: true });
});

const send = (authorization: string, body: unknown = { name: 'x' }, headers: Record<string, string> = {}) =>
  weir.send({ path: '/api/v1/events', headers: { authorization, ...headers }, body });

describe('POST /api/v1/events', () => {
  test('202: event queued', async () => {
    expectJson(await weir.events(key, { name: 'signup' }), 202, ACCEPTED);
  });

  test('200: idempotency key already seen; ignored', async () => {
    expectJson(await weir.events(key, { name: 'paid', idempotency_key: 'order-1' }), 202, ACCEPTED);
    expectJson(await weir.events(key, { name: 'paid', idempotency_key: 'order-1' }), 200, DUPLICATE);
  });

  test.each([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: null }],
    ['name', { name: 7 }],
    ['name', { name: ' \t\n ' }],
    ['name', { name: ['x'] }],
    ['idempotency_key', { name: 'x', idempotency_key: 'white space' }],
    ['idempotency_key', { name: 'x', idempotency_key: 5 }],
    ['properties', { name: 'x', properties: [] }],
    ['properties', { name: 'x', properties: 'text' }],
    ['properties', { name: 'x', properties: 1 }],
  ])('400: invalid %s %j', async (field, body) => {
    expectEnvelope(await weir.events(key, body), 400, new RegExp(field));
  });

  test('400: the message names the field and the rule it broke', async () => {
    const answer = await weir.events(key, { name: 'x', idempotency_key: 'a b' });
    expectJson(answer, 400, {
      status: 'error',
      error: { code: 400, message: 'idempotency_key must match ^[A-Za-z0-9_.:-]{1,128}$' },
    });
  });

  test('401: missing or invalid API key', async () => {
    expectEnvelope(await weir.send({ path: '/api/v1/events', body: { name: 'x' } }), 401);
    for (const authorization of ['Bearer', 'Bearer ', `Basic ${key}`, key, `Token ${key}`]) {
      expectEnvelope(await send(authorization), 401, /must be "Bearer", a space and the key$/);
    }
    expectEnvelope(await send('Bearer unknown'), 401, /^Invalid API key$/);
    expectEnvelope(await send(`Bearer ${key.slice(0, -1)}`), 401);
    expectEnvelope(await send(`Bearer ${key}x`), 401);
  });

  test('403: key valid but lacks the events:write scope', async () => {
    const body = { status: 'error', error: { code: 403, message: 'API key does not have events:write scope' } };
    expectJson(await weir.events(identifyOnly.key, { name: 'x' }), 403, body);
    expectJson(await weir.events(legacy.key, { name: 'x' }), 403, body);
    const batch = { path: '/api/v1/events/batch', headers: bearer(legacy.key), body: { events: [{ name: 'x' }] } };
    expectJson(await weir.send(batch), 403, body);
  });
});

describe('authentication', () => {
  test('the same site key authenticates both endpoints', async () => {
    expect((await weir.events(key, { name: 'both' })).status).toBe(202);
    expect((await weir.identify(key, { visitor_id: 'v', user_id: 'u' })).status).toBe(200);
  });

  test('the scheme Bearer can have any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'BeArEr']) expectJson(await send(`${scheme} ${key}`), 202, ACCEPTED);
  });
});

describe('the order of the checks: the first one that fails determines the answer', () => {
  const malformed = '{"name":';
  const tooBig = JSON.stringify({ name: 'x', pad: 'a'.repeat(70_000) });

  test('the key (401) comes before scope and body', async () => {
    expectEnvelope(await send('Bearer unknown', malformed), 401);
    expectEnvelope(await send('Bearer unknown', tooBig), 401);
    expectEnvelope(await send('Bearer unknown', '', { 'content-type': 'text/plain' }), 401);
  });

  test('the scope (403) comes before the body (400)', async () => {
    expectEnvelope(await weir.events(identifyOnly.key, malformed), 403);
    expectEnvelope(await weir.events(identifyOnly.key, tooBig), 403);
    expectEnvelope(await weir.events(identifyOnly.key, {}), 403);
  });

  test('the rate limit (429) comes before the body (400)', async () => {
    const own = await weir.createSite();
    await weir.must(200, 'PATCH', `/sites/${own}`, { limits: { events: 1 } });
    const { key: limited } = await weir.createKey(own);
    // This request uses up the rate limit. With several gateways, `createKey` has already used it up, because it sends requests with the
    // new key.
    await weir.events(limited, { name: 'first' });
    const answer = await weir.events(limited, malformed);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 429, text: '' });
  });
});

describe('Content-Type must be JSON, with or without parameters', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/json;x=y'])(
    '%s is read',
    async (type) => {
      expectJson(await weir.events(key, { name: 'x' }, { 'content-type': type }), 202, ACCEPTED);
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json', ''])(
    '%j is 400',
    async (type) => {
      expectEnvelope(
        await send(bearer(key).authorization, '{"name":"x"}', { 'content-type': type }),
        400,
        /content-type/i,
      );
    },
  );
});
