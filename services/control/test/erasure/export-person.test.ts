import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from '../control-harness.ts';

let weir: ControlHarness;
beforeAll(async () => {
  weir = await openControlHarness();
  await weir.call('POST', '/sites', { site_id: 'shop', name: 'N', domain: 'example.com' });
});
afterAll(() => weir.close());

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
