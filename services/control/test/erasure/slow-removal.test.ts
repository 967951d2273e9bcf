import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { type ControlHarness, openControlHarness } from '../control-harness.ts';

let weir: ControlHarness;
beforeAll(async () => {
  weir = await openControlHarness();
});
afterAll(() => weir.close());

let ids = 0;

/** Appends a record like a gateway that does not know yet that the site was removed. */
async function append(siteId: string): Promise<void> {
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = { eventId, kind: 'event', siteId, receivedAt: weir.clock(), sealedIp: '' } as const;
  const key = partitionKey({ siteId, eventId, userId: '', visitorId: '', idempotencyKey: '' }, false);
  const value = encodeRawRecord({ ...head, userAgent: '', acceptLanguage: '' }, '{"name":"order"}');
  for (const { status } of await weir.eventLog.append(TOPIC_RAW, [{ key, value }])) expect(status).toBe('stored');
}

test('records that a gateway accepts during a slow removal of their site are erased', async () => {
  const { registry } = weir;
  const { removeSite } = registry;
  registry.removeSite = async (siteId) => {
    await append(siteId);
    weir.advance(5_000);
    await append(siteId);
    await removeSite(siteId);
    await append(siteId);
  };
  await weir.call('POST', '/sites', { site_id: 'slow', name: 'N', domain: 'example.com' });
  await append('slow');
  const { status, body } = await weir.call('DELETE', '/sites/slow');
  expect(status).toBe(200);

  await eventually('the erasure of the answer to be done', async () => {
    const { data } = (await weir.call('GET', `/erasures/${body.data.erasure_id}`)).body;
    if (data.phase !== 'done') throw new Error(`${data.phase}: ${data.problem}`);
    return true;
  });
  await eventually('everything to be stored', async () => {
    const { totals } = (await weir.call('GET', '/audit')).body.data;
    expect(totals).toMatchObject({ in_flight: 0 });
    return true;
  });
  const outcomes = await weir.analytics.select(
    'SELECT toString(outcome) AS outcome, toUInt32(count()) AS rows FROM records GROUP BY outcome ORDER BY outcome',
  );
  expect(outcomes).toEqual([{ outcome: 'erased', rows: 4 }]);
});
