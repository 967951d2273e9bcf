import { PAGE_SESSIONS } from '@weir/control/erasure/export-person';
import { DependencyError } from '@weir/domain/errors';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from '../control-harness.ts';

let weir: ControlHarness;
/** Called before each `select` of control, with its query. */
let beforeSelect: (query: string) => void | Promise<void> = () => undefined;
/** The greatest number of rows that a `select` of control has returned. */
let selectedRowsMax = 0;
beforeAll(async () => {
  // Express prints no error if NODE_ENV is `test`. A test below must see what Express prints.
  delete process.env.NODE_ENV;
  weir = await openControlHarness(undefined, (analytics) => ({
    ...analytics,
    async select<Row>(query: string, params?: Readonly<Record<string, unknown>>) {
      await beforeSelect(query);
      const rows = await analytics.select<Row>(query, params);
      selectedRowsMax = Math.max(selectedRowsMax, rows.length);
      return rows;
    },
  }));
  await weir.call('POST', '/sites', { site_id: 'shop', name: 'N', domain: 'example.com' });
});
afterAll(() => weir.close());
afterEach(() => {
  beforeSelect = () => undefined;
});

/** A browser that is not a bot, because the table `sessions` has no sessions of bots. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
let ids = 0;

const append = (body: string): Promise<void> => appendAll('event', 'v', [body]);

async function appendAll(kind: 'event' | 'collect', visitorId: string, bodies: readonly string[]): Promise<void> {
  const records = bodies.map((body) => {
    const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
    const head = { eventId, kind, siteId: 'shop', receivedAt: weir.clock(), sealedIp: '' } as const;
    const key = partitionKey({ siteId: 'shop', eventId, userId: '', visitorId, idempotencyKey: '' }, false);
    return { key, value: encodeRawRecord({ ...head, userAgent: BROWSER, acceptLanguage: '' }, body) };
  });
  for (const { status } of await weir.eventLog.append(TOPIC_RAW, records)) expect(status).toBe('stored');
  await eventually('the record to be stored', async () => {
    const [row] = await weir.analytics.select<{ n: number }>('SELECT toUInt32(count()) AS n FROM records');
    return row?.n === ids;
  });
}

const exported = (visitorId = 'v'): Promise<Response> =>
  fetch(`${weir.url}/api/admin/sites/shop/person?visitor_id=${visitorId}`, {
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

test('reads the sessions of a person in pages', async () => {
  const sent = Array.from({ length: PAGE_SESSIONS + 1 }, (_, nth) => `session_${nth}`);
  const hit = { site_id: 'shop', visitor_id: 'many', type: 'pageview', url: 'https://example.com/' };
  await appendAll(
    'collect',
    'many',
    sent.map((session_id) => JSON.stringify({ ...hit, session_id })),
  );
  selectedRowsMax = 0;
  const { records, sessions } = (await (await exported('many')).json()) as Record<string, { session_id: string }[]>;
  expect(records).toHaveLength(sent.length);
  expect((sessions ?? []).map(({ session_id }) => session_id).join()).toBe(sent.toSorted().join());
  expect(selectedRowsMax).toBe(PAGE_SESSIONS);
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
