import { type AddressInfo, isIP } from 'node:net';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import express from 'express';
import schema from '../../../schemas/server-event.schema.json' with { type: 'json' };
import type { Undelivered } from '../src/event.ts';
import { weirMiddleware } from '../src/express.ts';
import { withWeir } from '../src/next.ts';
import { createVisit } from '../src/visit.ts';
import { Weir } from '../src/weir.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const cookieOf = (lastHit: number): string => `a=b; weir=${'1'.repeat(30)}.${'2'.repeat(30)}.${lastHit}; c=d`;
const COOKIE = cookieOf(Date.now());

describe('events from the request of a visitor', () => {
  let server: WeirProcess;
  let weir: Weir;
  let siteId: string;
  let key: string;
  beforeAll(async () => {
    server = await startWeir();
    siteId = await server.client.createSite();
    key = (await server.client.createKey(siteId)).key;
    weir = new Weir({ url: server.url, apiKey: key });
  }, 120_000);
  afterAll(async () => {
    await weir.close();
    await server.stop();
  }, 60_000);

  const rowOf = async (name: string, count: number) =>
    (await server.client.rows('events', siteId, count)).find((row) => row.event_name === name);

  test('Express: visitor, session, page and client come from the request', async () => {
    const app = express();
    app.use(weirMiddleware(weir));
    app.post('/buy', (request, response) => {
      request.weir?.track('purchase', { value: 49 });
      request.weir?.identify('ada');
      response.sendStatus(204);
    });
    const listening = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => listening.once('listening', resolve));
    const origin = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
    const headers = { cookie: COOKIE, 'user-agent': FIREFOX, referer: 'https://www.google.com/' };
    expect((await fetch(`${origin}/buy?utm_campaign=x`, { method: 'POST', headers })).status).toBe(204);
    listening.close();
    await weir.flush();
    expect(await rowOf('purchase', 1)).toMatchObject({
      visitor_id: '1'.repeat(30),
      session_id: '2'.repeat(30),
      url: `${origin}/buy?utm_campaign=x`,
      utm_campaign: 'x',
      referrer_domain: expect.stringContaining('google.com'),
      browser: 'Firefox',
    });
    const [profile] = await server.client.rows('profiles', siteId, 1);
    expect(profile).toMatchObject({ user_id: 'ada', visitor_ids: ['1'.repeat(30)] });
  });

  test('Express: a visitor cannot prevent the events of its own request with headers that Weir would refuse', async () => {
    const refused: unknown[] = [];
    const own = new Weir({ url: server.url, apiKey: key, onError: (undelivered) => refused.push(undelivered) });
    const app = express();
    app.set('trust proxy', true);
    app.use(weirMiddleware(own));
    app.get('/{*path}', (request, response) => {
      response.json(request.weir?.track('hostile request'));
    });
    const listening = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => listening.once('listening', resolve));
    const origin = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
    const long = 'x'.repeat(4_500);
    const headers = { 'user-agent': long, referer: `https://a.example/${long}`, 'x-forwarded-for': 'unknown' };
    expect(await (await fetch(`${origin}/${long}`, { headers })).json()).toBe(true);
    listening.close();
    await own.close();
    expect(refused).toEqual([]);
    const row = await rowOf('hostile request', 2);
    expect([String(row?.url).length, String(row?.referrer).length, row?.client_ip]).toEqual([4096, 4096, undefined]);
  });

  test('Next and other Fetch API servers: the visit comes from the request, and its events are flushed at the end', async () => {
    const handler = withWeir(weir, (_request, visit) => {
      visit.track('from next');
      return new Response('ok');
    });
    const request = new Request('https://shop.example/api/buy', { headers: { cookie: COOKIE, 'user-agent': FIREFOX } });
    expect((await handler(request, {})).status).toBe(200);
    expect(await rowOf('from next', 3)).toMatchObject({ visitor_id: '1'.repeat(30), hostname: 'shop.example' });
  });

  test('if a handler throws, its earlier events are flushed and its error is passed on', async () => {
    let answered = 0;
    // Does not use the network: a request on a busy machine can take longer than the 2 s after which the flush ends.
    const counting: typeof fetch = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      answered += 1;
      return Response.json({ status: 'success' });
    };
    const own = new Weir({ url: server.url, apiKey: 'k', fetch: counting });
    const request = new Request('https://shop.example/api/buy');
    const handler = withWeir(own, (_request, visit): Response => {
      visit.track('before an error');
      throw new Error('out of stock');
    });
    await expect(handler(request, {})).rejects.toThrow('out of stock');
    expect(answered).toBe(1);
    const works: Promise<unknown>[] = [];
    await expect(handler(request, { waitUntil: (work: Promise<unknown>) => works.push(work) })).rejects.toThrow(
      'out of stock',
    );
    expect(works).toHaveLength(1);
    await Promise.all(works);
    expect(answered).toBe(2);
    await own.close();
  });

  test('a request without the snippet’s cookie is anonymous and cannot identify a user', async () => {
    const handler = withWeir(weir, (_request, visit) => {
      visit.track('anonymous');
      return visit.identify('unknown');
    });
    expect(await handler(new Request('https://shop.example/'), {})).toBe(false);
    expect(await rowOf('anonymous', 4)).toMatchObject({ visitor_id: '', session_id: '' });
  });
});

describe('the fields of an event', () => {
  type Context = Record<string, string | undefined>;
  type Body = { readonly visitor_id: string; readonly session_id: string; readonly context: Context };
  async function bodiesOf(send: (weir: Weir) => void): Promise<Body[]> {
    const bodies: Body[] = [];
    const weir = new Weir({
      url: 'http://weir.example',
      apiKey: 'k',
      fetch: async (_url, init) => {
        bodies.push(JSON.parse(String(init?.body)));
        return Response.json({ status: 'success' });
      },
    });
    send(weir);
    await weir.close();
    return bodies;
  }
  const contextsOf = async (send: (weir: Weir) => void) => (await bodiesOf(send)).map(({ context }) => context);
  const request = { cookie: undefined, url: '/', referrer: undefined, userAgent: undefined, ip: undefined };

  test.each([
    ['less', '2'.repeat(30), 1_000_000],
    ['more', '', 1_800_001],
  ])('if the last hit was %s than 30 minutes ago, the session is %j', async (_, sessionId, ago) => {
    const cookie = cookieOf(Date.now() - ago);
    const [body] = await bodiesOf((weir) => createVisit(weir, { ...request, cookie }).track('event'));
    expect(body).toMatchObject({ visitor_id: '1'.repeat(30), session_id: sessionId });
  });

  test('a field that is undefined does not replace what the request says; an empty text does', async () => {
    const absent = { visitorId: undefined, context: { ip: undefined, referrer: '' } } as object;
    const [body] = await bodiesOf((weir) =>
      createVisit(weir, { ...request, cookie: COOKIE, referrer: '/a', ip: '192.0.2.1' }).track('event', absent),
    );
    const context = { url: '/', referrer: '', ip: '192.0.2.1' };
    expect(body).toMatchObject({ visitor_id: '1'.repeat(30), context });
  });

  test('the texts of the request are cut to the limits of the API, but not those that the caller passes', async () => {
    const pageCharsMax = schema.$defs.long_text.maxLength;
    const agentCharsMax = schema.properties.context.properties.user_agent.maxLength;
    const long = '😀'.repeat(pageCharsMax + 1);
    const [cut, passed] = await contextsOf((weir) => {
      const visit = createVisit(weir, { ...request, url: long, referrer: long, userAgent: long });
      visit.track('cut');
      visit.track('passed', { context: { url: long, referrer: long, userAgent: long } });
    });
    const page = '😀'.repeat(pageCharsMax);
    expect(cut).toEqual({ url: page, referrer: page, user_agent: '😀'.repeat(agentCharsMax) });
    expect(passed).toEqual({ url: long, referrer: long, user_agent: long });
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:8080', '192.0.2.1'],
    ['2001:DB8::1', '2001:DB8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['', undefined],
    ['unknown', undefined],
    ['_hidden:80', undefined],
    ['256.0.0.1', undefined],
    ['192.0.2', undefined],
    ['192.0.2.01', undefined],
    ['192.0.2.1.', undefined],
    ['192.0.2.1.5', undefined],
    ['2001:db8', undefined],
    ['1::2::3', undefined],
    ['::1]/[', undefined],
    ['192.0.2.1, 192.0.2.2', undefined],
  ])('the client address %j is sent as %j', async (ip, sent) => {
    const [context] = await contextsOf((weir) => createVisit(weir, { ...request, ip }).track('event'));
    expect(context).toEqual({ url: '/', ip: sent });
    if (sent !== undefined) expect(isIP(sent)).not.toBe(0);
  });
});

test('a handler without waitUntil waits for its own calls, but not for those of earlier requests', async () => {
  const sent: string[] = [];
  const answer: typeof fetch = async (_url, init) => {
    const { name } = JSON.parse(String(init?.body)) as { name: string };
    if (name === 'stuck') return new Promise(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    sent.push(name);
    return Response.json({ status: 'success' });
  };
  const weir = new Weir({ url: 'http://weir.example', apiKey: 'k', fetch: answer });
  weir.track('stuck');
  const handler = withWeir(weir, (_request, visit) => visit.track('own'));
  // With these timers, the time limit of the flush never passes.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  try {
    expect(await handler(new Request('https://shop.example/'), {})).toBe(true);
  } finally {
    jest.useRealTimers();
  }
  expect(sent).toEqual(['own']);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])(
  'an event with the value %p is refused and reported',
  async (value) => {
    const refused: unknown[] = [];
    const onError = (undelivered: Undelivered) => void refused.push(undelivered.reason);
    const weir = new Weir({ url: 'http://weir.example', apiKey: 'k', onError });
    expect(weir.track('purchase', { value })).toBe(false);
    expect(refused).toEqual([`value must be a finite number, not ${value}`]);
    expect(await weir.close()).toBe(0);
  },
);

test('NaN is reported and not sent as null anywhere in a call, and neither is an invalid date: null would remove a trait', async () => {
  const refused: Undelivered[] = [];
  const bodies: string[] = [];
  const weir = new Weir({
    url: 'http://weir.example',
    apiKey: 'k',
    onError: (one) => void refused.push(one),
    fetch: async (_url, init) => {
      bodies.push(String(init?.body));
      return Response.json({ status: 'success' });
    },
  });
  expect([
    weir.track('purchase', { properties: { sum: { tax: Number.NaN } } }),
    weir.track('purchase', { timestamp: Number.POSITIVE_INFINITY }),
    weir.track('purchase', { timestamp: new Date('soon') }),
    weir.identify('v', 'u', { age: Number.NaN }),
    weir.identify('v', 'u', { plan: null }),
  ]).toEqual([false, false, false, false, true]);
  expect(refused.map(({ reason }) => reason)).toEqual([
    'tax must be a finite number, not NaN',
    'timestamp must be a finite number, not Infinity',
    'timestamp must be a valid date',
    'age must be a finite number, not NaN',
  ]);
  expect(await weir.close()).toBe(0);
  expect(bodies.map((body) => JSON.parse(body))).toEqual([{ plan: null, visitor_id: 'v', user_id: 'u' }]);
});

test('a call with a value that JSON cannot contain is reported, and does not throw', async () => {
  const refused: Undelivered[] = [];
  const weir = new Weir({ url: 'http://weir.example', apiKey: 'k', onError: (one) => void refused.push(one) });
  // The types refuse such values, but a JavaScript program can send them.
  const circle: Record<string, never> = {};
  circle.self = circle as never;
  const big = 1n as never;
  expect([
    weir.track('purchase', { properties: { amount: big } }),
    weir.track('purchase', { properties: circle }),
    weir.identify('v', 'u', { amount: big }),
  ]).toEqual([false, false, false]);
  const json = expect.stringMatching(/^the call cannot be written as JSON: .+/);
  expect(refused).toMatchObject([
    { call: { kind: 'event', body: '' }, reason: json },
    { call: { kind: 'event', body: '' }, reason: json },
    { call: { kind: 'identify', body: '' }, reason: json },
  ]);
  expect(await weir.close()).toBe(0);
});
