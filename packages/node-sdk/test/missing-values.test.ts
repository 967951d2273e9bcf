import { weirMiddleware } from '../src/express.ts';
import { createVisit } from '../src/visit.ts';
import { Weir } from '../src/weir.ts';

const COOKIE = `weir=1.2.${Date.now()}`;

/** Runs `send`, and resolves with the bodies of the requests, without the fields that differ in each run. */
async function bodiesOf(send: (weir: Weir) => void): Promise<object[]> {
  const bodies: object[] = [];
  const answer: typeof fetch = async (_url, init) => {
    const { idempotency_key, timestamp, ...body } = JSON.parse(String(init?.body));
    bodies.push(body);
    return Response.json({ status: 'success' });
  };
  const weir = new Weir({ url: 'http://weir.example', apiKey: 'k', fetch: answer, concurrency: 1 });
  send(weir);
  expect(await weir.close()).toBe(0);
  return bodies;
}

test('fields that are null count as no fields: a profile that a database does not have must not fail the request', async () => {
  const bodies = await bodiesOf((weir) => {
    const visit = createVisit(weir, {
      cookie: COOKIE,
      url: '',
      referrer: undefined,
      userAgent: undefined,
      ip: undefined,
    });
    expect([
      weir.track('signup', null),
      weir.identify('v', 'u', null),
      visit.track('purchase', null),
      visit.identify('u', null),
    ]).toEqual([true, true, true, true]);
  });
  expect(bodies).toEqual([
    { name: 'signup' },
    { visitor_id: 'v', user_id: 'u' },
    { name: 'purchase', visitor_id: '1', session_id: '2', context: {} },
    { visitor_id: '1', user_id: 'u' },
  ]);
});

test('Express: an event of a request without the header Host has no URL', async () => {
  const request: Parameters<ReturnType<typeof weirMiddleware>>[0] = {
    headers: {},
    protocol: 'http',
    originalUrl: '/buy',
    get: () => undefined,
  };
  const bodies = await bodiesOf((weir) => {
    weirMiddleware(weir)(request, undefined, () => undefined);
    request.weir?.track('purchase');
  });
  expect(bodies).toMatchObject([{ name: 'purchase', context: {} }]);
  expect(JSON.stringify(bodies)).not.toContain('url');
});
