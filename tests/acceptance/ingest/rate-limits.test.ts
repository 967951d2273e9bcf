import type { HttpAnswer } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';
import { ACCEPTED, DUPLICATE, expectJson, expectNoBody } from '../expect-answers.ts';
import { describeOwnProcess, useOwnWeir, useWeir } from '../use-weir.ts';
import { ROUNDS_WITHIN_MS, withinOneWindow } from '../within-one-window.ts';

jest.setTimeout(ROUNDS_WITHIN_MS);

const hit = (site: string, fields: object = {}) => ({
  site_id: site,
  visitor_id: 'v',
  session_id: 's',
  type: 'pageview',
  ...fields,
});

function expectRefused(answer: HttpAnswer): void {
  expectNoBody(answer, 429);
  expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  const seconds = Number(answer.headers['retry-after']);
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
}

/** Expects a refusal by the limit of an API key: `Retry-After` is the end of the window. */
function expectKeyRefused(answer: HttpAnswer): void {
  expectRefused(answer);
  expect(answer.headers['retry-after']).toBe(answer.headers['ratelimit-reset']);
}

const BATCH = '/api/v1/events/batch';
const batchOf = (count: number) => ({ events: Array.from({ length: count }, () => ({ name: 'x' })) });

function limitHeaders({ headers }: HttpAnswer): unknown[] {
  return [headers['ratelimit-limit'], headers['ratelimit-remaining']];
}

/** Sends `count` requests, 16 at a time. Returns the number of answers for each status. */
async function statuses(count: number, send: () => Promise<HttpAnswer>): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  let left = count;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const { status } = await send();
      found[status] = (found[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  return found;
}

/** Sends one request more than the limit. Returns the first answer, the statuses of the others within the limit, and the last answer. */
const upToLimit = async (limit: number, send: () => Promise<HttpAnswer>) => ({
  first: await send(),
  found: await statuses(limit - 1, send),
  next: await send(),
});

describeOwnProcess('rate limits (defaults)', () => {
  const weir = useOwnWeir({}).client;

  test('collect: 600 per minute and visitor IP, an untrusted X-Forwarded-For is ignored', async () => {
    const site = await weir.createSite();
    let n = 0;
    const send = () => weir.collect(hit(site), { 'x-forwarded-for': `203.0.113.${n++ % 200}` });
    const { found, next } = await withinOneWindow(async () => ({
      found: await statuses(600, send),
      next: await send(),
    }));
    expect(found).toEqual({ 204: 600 });
    expectRefused(next);
    expect(next.headers['access-control-allow-origin']).toBeDefined();
  });

  test('events: 1,200 per minute and API key', async () => {
    const { key } = await weir.createSiteWithKey();
    const send = () => weir.events(key, { name: 'x' });
    const { first, found, next } = await withinOneWindow(() => upToLimit(1200, send));
    expect(limitHeaders(first)).toEqual(['1200', '1199']);
    expect(found).toEqual({ 202: 1199 });
    expectRefused(next);
  });

  test('identify: 120 per minute and API key', async () => {
    const { key } = await weir.createSiteWithKey();
    const send = () => weir.identify(key, { visitor_id: 'v', user_id: 'u' });
    const { first, found, next } = await withinOneWindow(() => upToLimit(120, send));
    expect(limitHeaders(first)).toEqual(['120', '119']);
    expect(found).toEqual({ 200: 119 });
    expectRefused(next);
  });
});

describeOwnProcess('each rate limit can be changed by configuration', () => {
  const weir = useOwnWeir({
    RATE_LIMIT_COLLECT: '3',
    RATE_LIMIT_EVENTS: '4',
    RATE_LIMIT_IDENTIFY: '2',
    TRUSTED_PROXIES: '1',
  }).client;

  test('accepted requests have RateLimit-Limit, -Remaining, -Reset; 429 has Retry-After and no body', async () => {
    const { site, key } = await weir.createSiteWithKey();
    for (const [idempotency_key, remaining] of Object.entries({ a: '3', b: '2', c: '1' })) {
      const answer = await weir.events(key, { name: 'x', idempotency_key });
      expectJson(answer, 202, ACCEPTED);
      expect(limitHeaders(answer)).toEqual(['4', remaining]);
      expect(answer.headers['ratelimit-reset']).toMatch(/^\d+$/);
    }
    const duplicate = await weir.events(key, { name: 'x', idempotency_key: 'a' });
    expectJson(duplicate, 200, DUPLICATE);
    expect(limitHeaders(duplicate)).toEqual(['4', '0']);
    expect(duplicate.headers['ratelimit-reset']).toMatch(/^\d+$/);
    expectKeyRefused(await weir.events(key, { name: 'x' }));
    expectKeyRefused(await weir.events(key, '{"malformed'));
    const { key: second } = await weir.createKey(site);
    expectJson(await weir.events(second, { name: 'x' }), 202, ACCEPTED);
    for (const remaining of ['1', '0']) {
      expect(limitHeaders(await weir.identify(key, { visitor_id: 'v', user_id: 'u' }))).toEqual(['2', remaining]);
    }
    expectKeyRefused(await weir.identify(key, { visitor_id: 'v', user_id: 'u' }));
  });

  test('a key that is unknown or lacks the scope gets 401 or 403, never 429', async () => {
    const { key } = await weir.createKey(await weir.createSite(), { scopes: ['identify:write'] });
    for (let n = 0; n < 6; n++) {
      expect((await weir.events(key, { name: 'x' })).status).toBe(403);
      expect((await weir.events('unknown', { name: 'x' })).status).toBe(401);
    }
  });

  test('collect counts per visitor IP: IPv6 addresses count per /64, IPv4-mapped ones as IPv4', async () => {
    const site = await weir.createSite();
    const from = (ip: string, body: unknown = hit(site)) => weir.collect(body, { 'x-forwarded-for': ip });
    const groups = [
      ['203.0.113.1', '::ffff:203.0.113.1', '203.0.113.1'],
      ['2001:db8:1:1::1', '2001:db8:1:1:ffff:ffff:ffff:ffff', '2001:DB8:1:1::2'],
    ] as const;
    for (const group of groups) {
      for (const ip of group) expectNoBody(await from(ip), 204);
      for (const ip of group) expectRefused(await from(ip));
    }
    expectNoBody(await from('203.0.113.2'), 204);
    expectNoBody(await from('2001:db8:1:2::1'), 204);
    expectRefused(await from('203.0.113.1', '{"malformed'));
    expectRefused(await from('203.0.113.1', hit('no-such-site')));
    expectRefused(await from('198.51.100.9, 203.0.113.1'));
  });
});

describe('limits per site, through the admin API', () => {
  const weir = useWeir();

  test('a changed limit applies only to the keys of that site', async () => {
    const [site, other] = [await weir.createSite(), await weir.createSite()];
    await weir.must(200, 'PATCH', `/sites/${site}`, { limits: { events: 3, identify: 2 } });
    expect(await weir.must(200, 'GET', `/sites/${site}`)).toMatchObject({ limits: { events: 3, identify: 2 } });
    const { key } = await weir.createKey(site);
    const { key: otherKey } = await weir.createKey(other);
    const events = await statuses(10, () => weir.events(key, { name: 'x' }));
    expect(events[202]).toBeLessThanOrEqual(3);
    expect(events[429]).toBeGreaterThanOrEqual(7);
    const identifies = await statuses(10, () => weir.identify(key, { visitor_id: 'v', user_id: 'u' }));
    expect(identifies[429]).toBeGreaterThanOrEqual(8);
    expect(await statuses(10, () => weir.events(otherKey, { name: 'x' }))).toEqual({ 202: 10 });
  });

  describe('the rate limit of a batch', () => {
    const limitedKey = async (events: number): Promise<string> => {
      const site = await weir.createSite();
      await weir.must(200, 'PATCH', `/sites/${site}`, { limits: { events } });
      const { key } = await weir.createKey(site);
      const probe = { path: BATCH, headers: bearer(key), body: batchOf(events + 1) };
      await weir.everywhere('the limit is in force', probe, ({ status }) => status === 400);
      return key;
    };
    const send = (key: string, count: number) => weir.send({ path: BATCH, headers: bearer(key), body: batchOf(count) });

    test('a batch above the remaining limit is refused as a whole and does not reduce the limit', async () => {
      const key = await limitedKey(100);
      const first = await send(key, 60);
      expect([first.status, first.json]).toMatchObject([200, { data: { accepted: 60, failed: 0 } }]);
      const left = Number(first.headers['ratelimit-remaining']);
      for (let n = 0; n < 3; n++) {
        const refused = await send(key, left + 1);
        expectKeyRefused(refused);
        expect(limitHeaders(refused)).toEqual(['100', String(left)]);
      }
      const smaller = await send(key, left);
      expect([smaller.status, smaller.json]).toMatchObject([200, { data: { accepted: left, failed: 0 } }]);
      expectRefused(await send(key, 1));
      expectRefused(await weir.events(key, { name: 'x' }));
    });

    test('a batch with more events than the limit gets 400 and does not reduce the limit', async () => {
      const key = await limitedKey(80);
      const message = 'events has 81 events, more than the rate limit of 80 a minute: send at most 80 at once';
      const error = { status: 'error', error: { code: 400, message } };
      const refused = await send(key, 81);
      expectJson(refused, 400, error);
      expect(refused.headers['ratelimit-limit']).toBe('80');
      // With several gateways, `createKey` has already sent one request with this key to each gateway.
      const left = 80 - (weir.urls.length > 1 ? weir.urls.length : 0);
      expect((await send(key, left)).status).toBe(200);
      expectRefused(await send(key, 1));
      expectJson(await send(key, 81), 400, error);
    });

    test('of several concurrent batches, as many are accepted as the limit allows', async () => {
      const key = await limitedKey(100);
      const answers = await Promise.all(Array.from({ length: 16 }, () => send(key, 30)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(13);
    });
  });

  test('the collect limit of a site can be changed', async () => {
    const site = await weir.createSite();
    await weir.must(200, 'PATCH', `/sites/${site}`, { limits: { collect: 5 } });
    const probe = { path: '/api/collect', headers: { 'x-forwarded-for': '203.0.113.97' }, body: hit(site) };
    await weir.everywhere('the limit is in force', probe, ({ status }) => status === 429);
    const found = await statuses(20, () => weir.collect(hit(site), { 'x-forwarded-for': '203.0.113.99' }));
    expect(found).toEqual({ 204: 5, 429: 15 });
    expectNoBody(await weir.collect(hit(site), { 'x-forwarded-for': '203.0.113.98' }), 204);
  });
});
