import { DependencyError } from '@weir/domain/errors';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from '../control-harness.ts';

let weir: ControlHarness;
/** Called before each `select` of control, with its query. */
let beforeSelect: (query: string) => void | Promise<void> = () => undefined;
beforeAll(async () => {
  // Express prints no error if NODE_ENV is `test`. A test below must see what Express prints.
  delete process.env.NODE_ENV;
  weir = await openControlHarness(undefined, (analytics) => ({
    ...analytics,
    async select(query, params) {
      await beforeSelect(query);
      return analytics.select(query, params);
    },
  }));
  await weir.call('POST', '/sites', { site_id: 'shop', name: 'N', domain: 'example.com' });
});
afterAll(() => weir.close());
afterEach(() => {
  beforeSelect = () => undefined;
});

let ids = 0;

async function append(body: string): Promise<void> {
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = { eventId, kind: 'event', siteId: 'shop', receivedAt: weir.clock(), sealedIp: '' } as const;
  const key = partitionKey({ siteId: 'shop', eventId, userId: '', visitorId: 'v', idempotencyKey: '' }, false);
  const value = encodeRawRecord({ ...head, userAgent: '', acceptLanguage: '' }, body);
  for (const { status } of await weir.eventLog.append(TOPIC_RAW, [{ key, value }])) expect(status).toBe('stored');
  await eventually('the record to be stored', async () => {
    const [row] = await weir.analytics.select<{ n: number }>('SELECT toUInt32(count()) AS n FROM records');
    return row?.n === ids;
  });
}

const exported = (): Promise<Response> =>
  fetch(`${weir.url}/api/admin/sites/shop/person?visitor_id=v`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });

test('has integers above 2^53 as they were sent', async () => {
  await append('{"name":"order","visitor_id":"v","properties":{"order_id":9007199254740993,"sku":"\\"a\\nb"}}');
  const answer = await exported();
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).toContain('"order_id":9007199254740993');
  const { records, sessions, profiles } = JSON.parse(text);
  expect([records, sessions, profiles]).toMatchObject([
    [{ site_id: 'shop', event_name: 'order', visitor_id: 'v', properties: { sku: '"a\nb' } }],
    [],
    [],
  ]);
});

test('a failure in the middle cuts the connection, and its message is not printed', async () => {
  await append('{"name":"order","visitor_id":"v"}');
  const printed: unknown[] = [];
  const { error } = console;
  console.error = (...texts: unknown[]) => void printed.push(...texts);
  beforeSelect = (query) => {
    if (query.includes('FROM payment_customers')) throw new DependencyError('analytics_unavailable', 'about a value');
  };
  const answer = await exported();
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  beforeSelect = () => undefined;
  expect((await exported()).status).toBe(200);
  console.error = error;
  expect(printed).toEqual([]);
});

test('a failure before the first byte is an answer with a reason', async () => {
  beforeSelect = () => {
    throw new DependencyError('analytics_unavailable', 'ClickHouse is busy');
  };
  const answer = await exported();
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
});

test('a swap of the tables during the export cuts the answer, so that it never mixes two sets of tables', async () => {
  const shadow = weir.openTables('weir_shadow');
  await shadow.migrate();
  const generation = await weir.analytics.generation();
  let swapped: Promise<void> | undefined;
  beforeSelect = async (query) => {
    if (!query.includes('FROM profiles')) return;
    swapped ??= weir.analytics.exchangeWith('weir_shadow', generation + 1);
    await swapped;
  };
  const answer = await exported();
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  expect(await weir.analytics.generation()).toBe(generation + 1);
  const { records } = JSON.parse(await (await exported()).text());
  expect(records).toEqual([]);
  await shadow.close();
});
