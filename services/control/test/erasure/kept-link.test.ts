import { type EraseState, eraseState } from '@weir/control/erasure/erase-state';
import { personSql } from '@weir/control/erasure/person-sql';
import { DUMP_COLUMNS, DUMP_VERSION } from '@weir/domain/dump/dump-format';
import { entryOf, erasureHash } from '@weir/domain/erasure/tombstone';
import { profileId } from '@weir/domain/people/profile-id';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { userLinkKey } from '@weir/domain/records/state-keys';
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
async function append(kind: 'event' | 'identify' | 'dumped', userId: string, body: object): Promise<void> {
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = {
    ...{ eventId, kind, siteId: SITE, receivedAt: weir.clock() },
    ...{ sealedIp: '', userAgent: '', acceptLanguage: '' },
  };
  const parts = { siteId: SITE, eventId, userId, visitorId: '', idempotencyKey: '' };
  const value = encodeRawRecord(head, JSON.stringify(kind === 'dumped' ? body : { user_id: userId, ...body }));
  await weir.eventLog.append(TOPIC_RAW, [{ key: partitionKey(parts, kind !== 'event'), value }]);
}
/** The body of a raw record with an identify from a dump, which makes no link. */
function dumpedIdentify(userId: string, visitor: string): object {
  const at = weir.clock();
  const values: Readonly<Record<string, unknown>> = {
    ...{ outcome: 'identify', source: 'server', type: 'identify', timestamp: at, received_at: at },
    ...{ event_id: '11111111-0000-7000-8000-000000000000', user_id: userId, visitor_id: visitor },
    ...{ cookieless: false, value: null, properties: '{}', screen_width: 0, screen_height: 0 },
    detail: JSON.stringify({ profile_id: profileId(SITE, userId), user_id: userId }),
  };
  return { dump: DUMP_VERSION, row: DUMP_COLUMNS.map((column) => (column in values ? values[column] : '')) };
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
  await append('identify', 'dumped', { visitor_id: 'old-v' });
  await append('dumped', 'dumped', dumpedIdentify('dumped', 'new-v'));
  await stored();
  const { body } = await weir.call('POST', `/sites/${SITE}/erasures`, { visitors: ['old-v'] });
  await eventually('the erasure', async () => {
    return (await weir.call('GET', `/erasures/${body.data.erasure_id}`)).body.data.phase === 'done';
  });
  for (const user of ['dumped', 'moved', 'stays']) await append('event', user, { name: 'later' });
  await stored();
  const rows = await weir.analytics.select(
    "SELECT user_id, visitor_id FROM records WHERE event_name = 'later' ORDER BY user_id",
  );
  expect(rows).toEqual([
    { user_id: 'dumped', visitor_id: '' },
    { user_id: 'moved', visitor_id: 'new-v' },
    { user_id: 'stays', visitor_id: '' },
  ]);
});

test('a link whose identify the writer has not inserted yet stays', async () => {
  const salt = 'salt';
  const entries = [entryOf('v', erasureHash(salt, SITE, 'v', 'old-v'))];
  const part = { siteId: SITE, erasureId: 'e', part: 0, at: 1, salt, whole: false, entries };
  const links: Record<string, string> = { moved: 'new-v', stays: 'old-v' };
  const removed: string[] = [];
  const stateStore = {
    readEpoch: async () => ({ id: 'epoch' }),
    readState: async () => ({ values: Object.values(links) }),
    removeState: async (_epoch: string, _partition: object, keys: readonly string[]) => void removed.push(...keys),
  };
  const select = async (query: string) =>
    query.includes('SELECT DISTINCT user_id AS id') ? Object.keys(links).map((id) => ({ id })) : [];
  await eraseState({
    ...{ analytics: { select }, stateStore, eventLog: { logId: 'log', partitionCount: 1 } },
    ...{ person: personSql([part]), parts: [part] },
  } as unknown as EraseState);
  expect(removed).toEqual([userLinkKey(SITE, 'stays')]);
});
