import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import type { AppendOutcome, EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import type { GatewayDeps } from '../src/gateway-deps.ts';
import { holdAppends, type RunningGateway, startGateway } from './start-gateway.ts';

const HIGH = { rateLimits: { collect: 100_000, events: 100_000, identify: 100_000 } };
const ACCEPTED = { status: 'success', data: { accepted: true } };
const DUPLICATE = { status: 'success', data: { accepted: false, duplicate: true } };

function post(
  weir: RunningGateway,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${weir.url}/api/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function withGateway(
  wrap: (deps: GatewayDeps) => GatewayDeps,
  use: (weir: RunningGateway, key: string) => Promise<void>,
): Promise<void> {
  const weir = await startGateway({ config: HIGH, wrap });
  try {
    await weir.makeSite('site_a');
    await use(weir, await weir.makeKey('site_a'));
  } finally {
    await weir.close();
  }
}

describe('POST /api/v1/events', () => {
  let key: string;
  const weir = useOpened(() => startGateway({ config: HIGH }));
  beforeAll(async () => {
    await weir.makeSite('site_a');
    key = await weir.makeKey('site_a');
  });

  it('202 {status: "success", data: {accepted: true}}, and the log has the record as it was sent', async () => {
    const response = await post(weir, key, '{ "name" : "signup", "visitorId":"v1" }', { 'accept-language': 'de' });
    expect([response.status, await response.json()]).toEqual([202, ACCEPTED]);
    expect(response.headers.get('ratelimit-limit')).toBe('100000');
    const record = (await weir.records()).find(({ body }) => body.name === 'signup');
    expect(record).toMatchObject({
      kind: 'event',
      siteId: 'site_a',
      ip: '127.0.0.1',
      acceptLanguage: 'de',
      body: { visitorId: 'v1' },
    });
  });

  it('checks in the order of docs/api.md: 401, 403, 429, 400', async () => {
    const own = await startGateway({ config: { rateLimits: { collect: 1, events: 1, identify: 1 } } });
    await own.makeSite('site_a');
    const identifyOnly = await own.makeKey('site_a', ['identify:write']);
    const full = await own.makeKey('site_a');
    expect((await post(own, 'unknown', '{')).status).toBe(401);
    const lacks = await post(own, identifyOnly, '{');
    expect([lacks.status, await lacks.json()]).toEqual([
      403,
      { status: 'error', error: { code: 403, message: 'API key does not have events:write scope' } },
    ]);
    expect((await post(own, full, '{')).status).toBe(400);
    const limited = await post(own, full, '{');
    expect([limited.status, await limited.text()]).toEqual([429, '']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    await own.close();
  });

  it.each([
    ['', 'the body is empty: it must be a JSON object'],
    [' \n', 'the body is empty: it must be a JSON object'],
    ['{"name":"e"', 'the body must be valid JSON: the first error is at line 1, column 12'],
    ['{\n  "name": "e",\n  value: 1\n}', 'the body must be valid JSON: the first error is at line 3, column 3'],
    ['[{"name":"e"}]', 'the body must be a JSON object'],
  ])('says what is wrong in the body %j', async (body, message) => {
    const response = await post(weir, key, body);
    expect([response.status, await response.json()]).toEqual([400, { status: 'error', error: { code: 400, message } }]);
  });

  it('a revoked key gets 401 at once, although its hash is cached', async () => {
    const site = 'site_r';
    await weir.makeSite(site);
    const doomed = await weir.makeKey(site);
    expect((await post(weir, doomed, { name: 'x' })).status).toBe(202);
    await weir.registry.removeKey(site, weir.registry.keys(site)[0]?.keyId ?? '');
    expect((await post(weir, doomed, { name: 'x' })).status).toBe(401);
  });

  it('of 32 concurrent duplicates exactly one gets 202', async () => {
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => post(weir, key, { name: 'storm', idempotency_key: 'storm' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(31).fill(200), 202]);
    for (const answer of answers) expect(await answer.json()).toEqual(answer.status === 202 ? ACCEPTED : DUPLICATE);
    expect((await weir.records()).filter(({ body }) => body.name === 'storm')).toHaveLength(1);
  });

  it.each(['identity', 'Identity', ''])(
    'a body with the Content-Encoding %j is read without decompression',
    async (encoding) => {
      expect((await post(weir, key, { name: 'x' }, { 'content-encoding': encoding })).status).toBe(202);
    },
  );
});

describe('idempotency while dependencies fail', () => {
  const failing = (outcome: AppendOutcome['status'], times: number) => (deps: GatewayDeps) => {
    let left = times;
    const append: EventLog['append'] = async (topic, records) => {
      if (left-- <= 0) return deps.eventLog.append(topic, records);
      // During this pause, other requests try to claim the key, which the first request still holds.
      await pause(50);
      return records.map(() => ({ status: outcome, reason: 'test' }) as AppendOutcome);
    };
    return { ...deps, eventLog: { ...deps.eventLog, append } };
  };

  it.each(['refused', 'unknown'] as const)(
    '%s: 503 with Retry-After, and the key is released at once',
    async (outcome) => {
      await withGateway(failing(outcome, 1), async (weir, key) => {
        const first = await post(weir, key, { name: 'x', idempotency_key: 'k' });
        expect(first.status).toBe(503);
        expect(first.headers.get('retry-after')).toBe('1');
        expect(await first.json()).toMatchObject({ status: 'error', error: { code: 503 } });
        expect((await post(weir, key, { name: 'x', idempotency_key: 'k' })).status).toBe(202);
        expect((await post(weir, key, { name: 'x', idempotency_key: 'k' })).status).toBe(200);
      });
    },
  );

  it('if the first of 32 duplicates is refused, exactly one of the later ones is stored', async () => {
    await withGateway(failing('refused', 1), async (weir, key) => {
      const send = () => post(weir, key, { name: 'x', idempotency_key: 'k' });
      // The others are sent after this answer: requests that wait for the first one would be refused with it.
      expect((await send()).status).toBe(503);
      const others = await Promise.all(Array.from({ length: 31 }, send));
      expect(others.map(({ status }) => status).toSorted()).toEqual([...Array(30).fill(200), 202]);
    });
  });

  it('waits while another gateway has claimed the key, until that gateway confirms the claim', async () => {
    let store: GatewayDeps['stateStore'] | undefined;
    const capture = (deps: GatewayDeps) => {
      store = deps.stateStore;
      return deps;
    };
    await withGateway(capture, async (weir, key) => {
      const claim = { siteId: 'site_a', key: 'k', owner: 'another gateway' };
      expect(await store?.claimKeys([claim])).toEqual(['claimed']);
      const answer = post(weir, key, { name: 'x', idempotency_key: 'k' });
      await eventually('the duplicate waits', async () =>
        /weir_gateway_claims_total\{outcome="pending"\} 1/.test(await (await fetch(`${weir.url}/metrics`)).text()),
      );
      await store?.confirmKeys([claim]);
      expect((await answer).status).toBe(200);
      const second = { ...claim, key: 'k2' };
      await store?.claimKeys([second]);
      const retried = post(weir, key, { name: 'x', idempotency_key: 'k2' });
      await store?.releaseKeys([second]);
      expect((await retried).status).toBe(202);
    });
  });

  it('requests are accepted while the state store is unavailable', async () => {
    const away = async () => {
      throw new DependencyError('state_store_unavailable', 'test');
    };
    const broken = (deps: GatewayDeps) => ({
      ...deps,
      stateStore: { ...deps.stateStore, claimKeys: away, confirmKeys: away, releaseKeys: away },
    });
    await withGateway(broken, async (weir, key) => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => post(weir, key, { name: 'x', idempotency_key: 'k' })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
      await weir.gateway.drain();
    });
  });

  it('drain answers the requests in progress, also those that wait behind an append', async () => {
    const held = holdAppends();
    const slow = (deps: GatewayDeps) =>
      held.wrap({ ...deps, config: { ...deps.config, batch: { appendLingerMs: 60_000 } } });
    await withGateway(slow, async (weir, key) => {
      const waiting = (count: number) =>
        eventually(`${count} wait`, async () =>
          new RegExp(`weir_gateway_waiting_requests ${count}`).test(await (await fetch(`${weir.url}/metrics`)).text()),
        );
      const first = post(weir, key, { name: 'x', idempotency_key: 'k' });
      await waiting(1);
      const second = post(weir, key, { name: 'x', idempotency_key: 'k2' });
      await waiting(2);
      const drained = weir.gateway.drain();
      held.release();
      await drained;
      await waiting(0);
      expect([(await first).status, (await second).status]).toEqual([202, 202]);
    });
  });
});
