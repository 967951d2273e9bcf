import { DependencyError } from '@weir/domain/errors';
import { TABLE_SALTS } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import { type RunningGateway, startGateway } from './start-gateway.ts';

const BEFORE_MIDNIGHT = Date.UTC(2026, 4, 1, 23, 59, 59);
const AFTER_MIDNIGHT = Date.UTC(2026, 4, 2);
const CLIENT = '203.0.113.77';
const FROM = { 'x-forwarded-for': CLIENT };

let now = BEFORE_MIDNIGHT;
let saltsAway = false;
let saltsMade = 0;
let weir: RunningGateway;
let key: string;

/** An event log that refuses new salts while `saltsAway` is true. Then the gateway cannot get the encryption key of a new day. */
function withoutSalts(log: EventLog): EventLog {
  return {
    ...log,
    async openTable(name) {
      const table = await log.openTable(name);
      if (name !== TABLE_SALTS) return table;
      return {
        ...table,
        async put(...row) {
          if (saltsAway) throw new DependencyError('event_log_unavailable', 'test');
          await table.put(...row);
          saltsMade += 1;
        },
      };
    },
  };
}

beforeEach(async () => {
  now = BEFORE_MIDNIGHT;
  saltsAway = false;
  saltsMade = 0;
  weir = await startGateway({ config: { trustedProxies: ['127.0.0.1'] }, clock: () => now, wrapLog: withoutSalts });
  await weir.makeSite('site_a');
  key = await weir.makeKey('site_a');
});
afterEach(() => weir.close());

const post = (path: string, body: object, headers: Readonly<Record<string, string>> = FROM) =>
  fetch(`${weir.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
const collect = () => post('/api/collect', { site_id: 'site_a', visitor_id: 'v', session_id: 's', type: 'pageview' });
const event = (more: object = {}) => post('/api/v1/events', { name: 'e', idempotency_key: 'k', ...more });
const identify = () => post('/api/identify', { visitor_id: 'v', user_id: 'u' });
const batch = () => post('/api/v1/events/batch', { events: [{ name: 'b', idempotency_key: 'b' }] });

async function expectRefused(): Promise<void> {
  const stored = (await weir.records()).length;
  const ofContext = event({ context: { ip: CLIENT } });
  const [hit, identified] = [await collect(), await identify()];
  for (const answer of [hit, await event(), await ofContext, identified, await batch()]) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect([await hit.text(), hit.headers.get('access-control-allow-origin')]).toEqual(['', '*']);
  expect(await identified.json()).toEqual({ error: expect.any(String) });
  expect(await weir.records()).toHaveLength(stored);
}

/** Every request is accepted. The event gets 202 and not 200, because the request that was refused before did not claim its idempotency key. */
async function expectAccepted(): Promise<void> {
  const stored = (await weir.records()).length;
  const answers = [await collect(), await event(), await identify(), await batch()];
  expect(answers.map(({ status }) => status)).toEqual([204, 202, 200, 200]);
  expect(await answers[3]?.json()).toMatchObject({ data: { accepted: 1, duplicates: 0, failed: 0 } });
  const added = (await weir.records()).slice(stored);
  expect(added.map(({ ip }) => ip)).toEqual([CLIENT, CLIENT, CLIENT, CLIENT]);
}

describe('503 with Retry-After while the encryption key of the day cannot be created', () => {
  it('at the start: nothing is stored, no idempotency key is claimed, and requests succeed when the log is available', async () => {
    saltsAway = true;
    await expectRefused();
    saltsAway = false;
    await expectAccepted();
  });

  it('at midnight: the key of the day before is not used for the new day', async () => {
    expect((await collect()).status).toBe(204);
    saltsAway = true;
    expect((await collect()).status).toBe(204);
    now = AFTER_MIDNIGHT;
    await expectRefused();
    now = BEFORE_MIDNIGHT;
    expect((await collect()).status).toBe(204);
    now = AFTER_MIDNIGHT;
    saltsAway = false;
    await expectAccepted();
    expect(weir.registry.existingSalt('2026-05-01')).not.toBe(weir.registry.existingSalt('2026-05-02'));
  });

  it('no 503 if the key was created before midnight', async () => {
    await weir.registry.salt('2026-05-02');
    saltsAway = true;
    now = AFTER_MIDNIGHT;
    await expectAccepted();
  });
});

it('concurrent requests on a new day share one key', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, collect));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  expect(saltsMade).toBe(1);
  expect((await weir.records()).every(({ ip }) => ip === CLIENT)).toBe(true);
});
