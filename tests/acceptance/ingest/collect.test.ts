import { astral, expectNoBody } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';

beforeAll(async () => {
  site = await weir.createSite();
});

const hit = (fields: object = {}) => ({ site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', ...fields });
const event = (fields: object = {}) => hit({ type: 'event', event_name: 'click', ...fields });
const without = (name: string) => Object.fromEntries(Object.entries(hit()).filter(([field]) => field !== name));
const accepts = async (body: unknown) => expectNoBody(await weir.collect(body), 204);
const refuses = async (body: unknown) => expectNoBody(await weir.collect(body), 400);

describe('POST /api/collect', () => {
  test('204: accepted', async () => {
    await accepts(hit());
    await accepts(event());
    await accepts(hit({ type: 'identify', identity: { user_id: 'u' } }));
  });

  test.each(['site_id', 'visitor_id', 'session_id', 'type'])('400: %s is required', async (field) => {
    await refuses(without(field));
    await refuses(hit({ [field]: null }));
    await refuses(hit({ [field]: 5 }));
    await refuses(hit({ [field]: {} }));
  });

  test('400: type is one of pageview, event, identify', async () => {
    for (const type of ['', 'Pageview', 'view', 'pageview ']) await refuses(hit({ type }));
  });

  test('visitor_id and session_id may be empty in cookieless mode', async () => {
    await accepts(hit({ visitor_id: '', session_id: '' }));
  });

  test('400: an event needs its name', async () => {
    for (const event_name of [undefined, null, '', '  ', 5]) await refuses(event({ event_name }));
  });

  test.each([
    ['url', 5],
    ['pathname', {}],
    ['hostname', []],
    ['referrer', true],
    ['screen_width', '1920'],
    ['screen_height', {}],
    ['utm_source', 1],
    ['utm_medium', true],
    ['utm_campaign', []],
    ['utm_term', 0],
    ['utm_content', {}],
    ['ref', 1],
    ['source', []],
    ['via', false],
  ])('400: a wrong type of %s is refused', async (field, value) => {
    await refuses(hit({ [field]: value }));
  });

  test('400: event_properties is flat', async () => {
    await accepts(event({ event_properties: { a: 'x', b: 1.5, c: true, d: null } }));
    for (const value of [{ a: {} }, { a: [] }, { a: { b: 1 } }, [], 'x', 5])
      await refuses(event({ event_properties: value }));
  });

  test('event_value: number or string', async () => {
    for (const event_value of [1, '1.5', null, '']) await accepts(event({ event_value }));
    for (const event_value of [true, {}, []]) await refuses(event({ event_value }));
  });

  test('400: identify needs an identity with at least user_id', async () => {
    const identify = (identity: unknown) => hit({ type: 'identify', identity });
    for (const identity of [undefined, null, 'u', [], {}, { user_id: '' }, { user_id: 5 }])
      await refuses(identify(identity));
    for (const wrong of [{ email: 5 }, { image: 'javascript:x' }, { plan: {} }, { name: 'x'.repeat(256) }]) {
      await refuses(identify({ user_id: 'u', ...wrong }));
    }
  });

  test('404: no site matches site_id', async () => {
    expectNoBody(await weir.collect(hit({ site_id: 'no-such-site' })), 404);
    expectNoBody(await weir.collect(hit({ site_id: '__proto__' })), 404);
    expectNoBody(await weir.collect(hit({ site_id: 'constructor' })), 404);
  });

  test('the body (400) is checked before the site (404)', async () => {
    expectNoBody(await weir.collect({ site_id: 'no-such-site' }), 400);
  });

  test('null in optional fields means absent; unknown fields are ignored', async () => {
    const optional = [
      'url',
      'pathname',
      'hostname',
      'referrer',
      'screen_width',
      'screen_height',
      'utm_source',
      'ref',
      'via',
    ];
    await accepts(hit(Object.fromEntries(optional.map((field) => [field, null]))));
    await accepts(hit({ url: '', referrer: '', event_name: null, event_properties: null, identity: null, more: [{}] }));
  });
});

describe('field limits of collect: at the edge and one past it', () => {
  test.each([
    ['visitor_id', 64],
    ['session_id', 64],
    ['event_name', 128],
  ])('%s: up to %i chars, which are code points', async (field, max) => {
    await accepts(event({ [field]: 'x'.repeat(max) }));
    await accepts(event({ [field]: astral(max) }));
    await refuses(event({ [field]: 'x'.repeat(max + 1) }));
    await refuses(event({ [field]: astral(max + 1) }));
  });

  test('event_properties: at most 200 keys, 32 KiB', async () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    await accepts(event({ event_properties: keys(200) }));
    await refuses(event({ event_properties: keys(201) }));
    await accepts(event({ event_properties: { k: 'x'.repeat(32_768 - 8) } }));
    await refuses(event({ event_properties: { k: 'x'.repeat(32_768 - 7) } }));
  });
});

describe('any Content-Type is read as JSON', () => {
  test.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'image/png',
    'nonsense',
    '',
  ])('%j', async (type) => {
    expectNoBody(await weir.collect(JSON.stringify(hit()), { 'content-type': type }), 204);
  });
});

describe('CORS', () => {
  const origin = 'https://shop.example';

  test('OPTIONS answers 204 with the methods, Content-Type and a max-age of a day', async () => {
    const answer = await weir.send({
      method: 'OPTIONS',
      path: '/api/collect',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });
    expectNoBody(answer, 204);
    expect(answer.headers['access-control-allow-methods']).toMatch(/\bPOST\b/);
    expect(answer.headers['access-control-allow-headers']).toMatch(/content-type/i);
    expect(answer.headers['access-control-max-age']).toBe('86400');
    expect(['*', origin]).toContain(answer.headers['access-control-allow-origin']);
  });

  test('every answer has CORS headers, also errors; credentials are never allowed', async () => {
    const answers = [
      await weir.collect(hit(), { origin }),
      await weir.collect('{', { origin }),
      await weir.collect(hit({ site_id: 'no-such-site' }), { origin }),
      await weir.collect({ pad: 'a'.repeat(70_000) }, { origin }),
      await weir.send({ path: '/api/collect', headers: { origin } }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([204, 400, 404, 413, 405]);
    for (const answer of answers) {
      expect(['*', origin]).toContain(answer.headers['access-control-allow-origin']);
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  test('only collect has CORS headers', async () => {
    for (const path of ['/api/v1/events', '/api/identify', '/api/admin/sites', '/no-such-path']) {
      for (const method of ['POST', 'OPTIONS']) {
        const { headers } = await weir.send({ method, path, headers: { origin }, body: {} });
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      }
    }
  });

  test('the paths of COLLECT_PATHS behave like /api/collect', async () => {
    for (const path of ['/t/hit', '/measure']) {
      expectNoBody(await weir.send({ path, body: hit(), headers: { origin } }), 204);
      expectNoBody(await weir.send({ path, body: {}, headers: { origin } }), 400);
      expectNoBody(await weir.send({ path, method: 'OPTIONS', headers: { origin } }), 204);
    }
  });
});
