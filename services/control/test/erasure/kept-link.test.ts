import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from '../control-harness.ts';

const SITE = 'shop';
const weir = useOpened(openControlHarness);
beforeAll(async () => {
  await weir.call('POST', '/sites', { site_id: SITE, name: 'N', domain: 'example.com' });
});

let ids = 0;
async function append(kind: 'event' | 'identify', userId: string, body: object): Promise<void> {
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = {
    ...{ eventId, kind, siteId: SITE, receivedAt: weir.clock() },
    ...{ sealedIp: '', userAgent: '', acceptLanguage: '' },
  };
  const parts = { siteId: SITE, eventId, userId, visitorId: '', idempotencyKey: '' };
  const value = encodeRawRecord(head, JSON.stringify({ user_id: userId, ...body }));
  await weir.eventLog.append(TOPIC_RAW, [{ key: partitionKey(parts, kind === 'identify'), value }]);
}
const stored = () =>
  eventually('everything to be stored', async () => {
    const { body } = await weir.call('GET', '/audit');
    expect(body.data).toMatchObject({ balanced: true, totals: { in_flight: 0 } });
    return true;
  });

test('the erasure of a visitor removes the links to this visitor, and no other links of the same users', async () => {
  for (const [user, visitor] of [
    ['moved', 'old-v'],
    ['moved', 'new-v'],
    ['stays', 'new-v'],
    ['stays', 'old-v'],
  ] as const) {
    await append('identify', user, { visitor_id: visitor });
  }
  await stored();
  const { body } = await weir.call('POST', `/sites/${SITE}/erasures`, { visitors: ['old-v'] });
  await eventually('the erasure', async () => {
    return (await weir.call('GET', `/erasures/${body.data.erasure_id}`)).body.data.phase === 'done';
  });
  for (const user of ['moved', 'stays']) await append('event', user, { name: 'later' });
  await stored();
  const rows = await weir.analytics.select(
    "SELECT user_id, visitor_id FROM records WHERE event_name = 'later' ORDER BY user_id",
  );
  expect(rows).toEqual([
    { user_id: 'moved', visitor_id: 'new-v' },
    { user_id: 'stays', visitor_id: '' },
  ]);
});
