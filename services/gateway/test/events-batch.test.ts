import { DependencyError } from '@weir/domain/errors';
import { type RunningGateway, startGateway } from './start-gateway.ts';

const ACCEPTED = { accepted: true };
const DUPLICATE = { accepted: false, duplicate: true };

describe('POST /api/v1/events/batch', () => {
  let weir: RunningGateway;
  let key: string;
  beforeAll(async () => {
    weir = await startGateway({ config: { rateLimits: { collect: 600, events: 100_000, identify: 120 } } });
    await weir.makeSite('site_a');
    key = await weir.makeKey('site_a');
  });
  afterAll(() => weir.close());

  const send = async (body: unknown, headers: Record<string, string> = {}, bearer = key) => {
    const response = await fetch(`${weir.url}/api/v1/events/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
  };
  const events = (count: number, fields: object = {}) =>
    Array.from({ length: count }, () => ({ name: 'e', ...fields }));

  it('gives one result per event in order, and a bad event spoils no other', async () => {
    const { status, json, headers } = await send({
      events: [
        { name: 'one', visitorId: 'v1', idempotency_key: 'k1' },
        { name: ' ' },
        { name: 'twice', idempotencyKey: 'k1' },
        7,
        { name: 'two', properties: { __proto__: 1, deep: { a: [1] } } },
        { name: 'large', properties: { text: 'x'.repeat(33 * 1024) } },
        { name: 'larger', ignored: 'x'.repeat(65 * 1024) },
      ],
    });
    expect(status).toBe(200);
    expect(headers.get('ratelimit-limit')).toBe('100000');
    expect(json.status).toBe('success');
    expect(json.data).toMatchObject({ accepted: 2, duplicates: 1, failed: 4 });
    expect(json.data.results).toEqual([
      ACCEPTED,
      { error: { code: 400, message: expect.stringContaining('name') } },
      DUPLICATE,
      { error: { code: 400, message: 'the event must be a JSON object' } },
      ACCEPTED,
      { error: { code: 400, message: expect.stringContaining('32 KiB') } },
      { error: { code: 413, message: 'the event must be at most 64 KiB' } },
    ]);
    const names = (await weir.records()).map(({ body }) => body.name);
    expect(names.filter((name) => name === 'one' || name === 'two').sort()).toEqual(['one', 'two']);
    expect(names).not.toContain('twice');
  });

  it('takes 1 to 500 events and 1 MiB', async () => {
    expect((await send({ events: events(500) })).json.data.accepted).toBe(500);
    for (const refused of [{ events: [] }, { events: events(501) }, { events: {} }, {}]) {
      const { status, json } = await send(refused);
      expect([status, json.error.message]).toEqual([400, 'events must be an array of 1 to 500 events']);
    }
    const padded = (bytes: number) => {
      const head = '{"events":[{"name":"e"}],"pad":"';
      return `${head}${'x'.repeat(bytes - head.length - 2)}"}`;
    };
    expect((await send(padded(1024 * 1024))).status).toBe(200);
    expect((await send(padded(1024 * 1024 + 1))).status).toBe(413);
  });

  it('stands under the same key and scope', async () => {
    expect((await send({ events: events(1) }, {}, 'wrong')).status).toBe(401);
    const identifyOnly = await weir.makeKey('site_a', ['identify:write']);
    const refused = await send({ events: events(1) }, {}, identifyOnly);
    expect(refused).toMatchObject({
      status: 403,
      json: { error: { message: 'API key does not have events:write scope' } },
    });
    expect((await send('{', {})).status).toBe(400);
    expect((await send({ events: events(1) }, { 'content-type': 'text/plain' })).status).toBe(400);
    const other = await fetch(`${weir.url}/api/v1/events/batch`);
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('counts each event against the rate limit: one that no longer fits gets 429', async () => {
    await weir.makeSite('site_b', { events: 3 });
    const limited = await weir.makeKey('site_b');
    const { status, json } = await send({ events: events(5) }, {}, limited);
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ accepted: 3, failed: 2 });
    expect(json.data.results.slice(3)).toEqual(Array(2).fill({ error: { code: 429, message: 'Rate limit exceeded' } }));
    const unreadable = await send('{', {}, limited);
    expect([unreadable.status, unreadable.json]).toEqual([429, undefined]);
  });

  it('says 503 of an event that the log did not take, and its key is free', async () => {
    let broken = true;
    const failing = await startGateway({
      wrap: (deps) => ({
        ...deps,
        eventLog: new Proxy(deps.eventLog, {
          get: (log, name) =>
            name === 'append' && broken
              ? async (_topic: string, records: readonly unknown[]) =>
                  records.map(() => ({
                    status: 'refused',
                    error: new DependencyError('event_log_unavailable', 'down'),
                  }))
              : Reflect.get(log, name),
        }),
      }),
    });
    try {
      await failing.makeSite('site_a');
      const own = await failing.makeKey('site_a');
      const sendTo = async () =>
        (
          await fetch(`${failing.url}/api/v1/events/batch`, {
            method: 'POST',
            headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
            body: JSON.stringify({ events: events(1, { idempotency_key: 'k' }) }),
          })
        ).json();
      expect(await sendTo()).toMatchObject({ data: { failed: 1, results: [{ error: { code: 503 } }] } });
      broken = false;
      expect(await sendTo()).toMatchObject({ data: { accepted: 1, results: [ACCEPTED] } });
    } finally {
      await failing.close();
    }
  });
});
