import { DependencyError } from '@weir/domain/errors';
import { useOpened } from '@weir/testkit/use-opened';
import { startGateway } from './start-gateway.ts';

const ACCEPTED = { accepted: true };
const DUPLICATE = { accepted: false, duplicate: true };

const envelope = (code: number, message: unknown) => ({ status: 'error', error: { code, message } });

describe('POST /api/v1/events/batch', () => {
  let key: string;
  const weir = useOpened(() =>
    startGateway({ config: { rateLimits: { collect: 600, events: 100_000, identify: 120 } } }),
  );
  beforeAll(async () => {
    await weir.makeSite('site_a');
    key = await weir.makeKey('site_a');
  });

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

  it('gives one result per event in order; an invalid event does not affect the others', async () => {
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
    // This JSON is nested so deeply that JSON.stringify would exceed the stack.
    const deep = `{"name":"deep","ignored":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    const mixed = await send(`{"events":[${deep},{"name":"beside"}]}`);
    expect(mixed.json.data.results).toEqual([ACCEPTED, ACCEPTED]);
    const names = (await weir.records()).map(({ body }) => body.name);
    expect(names.filter((name) => name === 'one' || name === 'two').sort()).toEqual(['one', 'two']);
    expect(names).not.toContain('twice');
  });

  it('accepts each key once, in concurrent batches and within one batch', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `shared-${index}`);
    // Each batch has every key twice, in a different order.
    const batches = [0, 7, 19, 33].map((turn) => [...keys.slice(turn), ...keys, ...keys.slice(0, turn)]);
    const answers = await Promise.all(
      batches.map((batch) => send({ events: batch.map((key) => ({ name: 'shared', idempotency_key: key })) })),
    );
    const accepted = answers.flatMap(({ json }, batch) =>
      batches[batch]?.filter((_, index) => json.data.results[index].accepted === true),
    );
    expect(accepted.sort()).toEqual([...keys].sort());
    for (const { status, json } of answers) {
      expect([status, json.data.failed]).toEqual([200, 0]);
      expect(json.data.accepted + json.data.duplicates).toBe(80);
      for (const result of json.data.results) expect([ACCEPTED, DUPLICATE]).toContainEqual(result);
    }
    const stored = (await weir.records()).filter(({ body }) => body.name === 'shared');
    expect(stored.map(({ body }) => body.idempotency_key).sort()).toEqual([...keys].sort());
  });

  it('accepts 1 to 500 events and at most 1 MiB', async () => {
    expect((await send({ events: events(500) })).json.data.accepted).toBe(500);
    const message = 'events must be an array of 1 to 500 events';
    for (const refused of [{ events: [] }, { events: events(501) }, { events: {} }, {}]) {
      const { status, json } = await send(refused);
      expect([status, json]).toEqual([400, envelope(400, message)]);
    }
    const list = await send(events(1));
    expect([list.status, list.json]).toEqual([
      400,
      envelope(400, `the body must be a JSON object with the events: ${message}`),
    ]);
    const padded = (bytes: number) => {
      const head = '{"events":[{"name":"e"}],"pad":"';
      return `${head}${'x'.repeat(bytes - head.length - 2)}"}`;
    };
    expect((await send(padded(1024 * 1024))).status).toBe(200);
    const large = await send(padded(1024 * 1024 + 1));
    expect([large.status, large.json]).toEqual([413, envelope(413, expect.stringContaining('1024 KiB'))]);
  });

  it('requires the same key and scope as a single event', async () => {
    const unknown = await send({ events: events(1) }, {}, 'wrong');
    expect([unknown.status, unknown.json]).toEqual([401, envelope(401, expect.any(String))]);
    const identifyOnly = await weir.makeKey('site_a', ['identify:write']);
    const refused = await send({ events: events(1) }, {}, identifyOnly);
    const message = 'API key does not have events:write scope';
    expect([refused.status, refused.json]).toEqual([403, envelope(403, message)]);
    expect((await send('{', {})).status).toBe(400);
    expect((await send({ events: events(1) }, { 'content-type': 'text/plain' })).status).toBe(400);
    const other = await fetch(`${weir.url}/api/v1/events/batch`);
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('counts each event, and a body that cannot be read, against the rate limit', async () => {
    await weir.makeSite('site_b', { events: 3 });
    const limited = await weir.makeKey('site_b');
    const fitting = await send({ events: [...events(1), 7] }, {}, limited);
    expect([fitting.status, fitting.headers.get('ratelimit-remaining')]).toEqual([200, '1']);
    expect(fitting.json.data).toMatchObject({ accepted: 1, failed: 1 });
    const unreadable = await send('{', {}, limited);
    expect([unreadable.status, unreadable.json]).toEqual([400, expect.anything()]);
    const after = await send('{', {}, limited);
    expect([after.status, after.json]).toEqual([429, undefined]);
  });

  it('reports 503 for each event that the log refused, and answers 503 if it refused all; the keys are released', async () => {
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
      const sendTo = async (sent: readonly unknown[]) => {
        const response = await fetch(`${failing.url}/api/v1/events/batch`, {
          method: 'POST',
          headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
          body: JSON.stringify({ events: sent }),
        });
        return {
          status: response.status,
          retryAfter: response.headers.get('retry-after'),
          json: await response.json(),
        };
      };
      const valid = { name: 'e', idempotency_key: 'k' };
      const none = { status: 503, retryAfter: '1', json: envelope(503, expect.any(String)) };
      expect(await sendTo([valid])).toEqual(none);
      expect(await sendTo([{ name: '' }, valid])).toEqual(none);
      expect(await sendTo([{ name: '' }])).toMatchObject({ status: 200, json: { data: { failed: 1 } } });
      broken = false;
      expect(await sendTo([valid])).toMatchObject({
        status: 200,
        json: { data: { accepted: 1, results: [ACCEPTED] } },
      });
      broken = true;
      expect(await sendTo([valid, { name: 'e', idempotency_key: 'new' }])).toMatchObject({
        status: 200,
        json: { data: { duplicates: 1, failed: 1, results: [DUPLICATE, { error: { code: 503 } }] } },
      });
    } finally {
      await failing.close();
    }
  });
});
