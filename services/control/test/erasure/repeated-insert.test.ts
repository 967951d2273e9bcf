import { entryOf, erasureHash } from '@weir/domain/erasure/tombstone';
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

const audit = async () => (await weir.call('GET', '/audit')).body.data;
const rows = (query: string) => weir.analytics.select<Record<string, unknown>>(query);

let ids = 0;
async function append(visitor: string): Promise<void> {
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = { eventId, kind: 'collect', siteId: SITE, receivedAt: weir.clock(), sealedIp: '' } as const;
  const body = { site_id: SITE, type: 'pageview', visitor_id: visitor, session_id: 's', url: 'https://example.com/' };
  const value = encodeRawRecord({ ...head, userAgent: 'Firefox', acceptLanguage: '' }, JSON.stringify(body));
  await weir.eventLog.append(TOPIC_RAW, [{ partition: 0, value }]);
}

test.each([61_000, 11 * 60_000])('an insert of rows `erased` that began %i ms ago is not repeated', async (ms) => {
  const visitor = `zoe-${ms}`;
  for (let nth = 0; nth < 3; nth++) await append(visitor);
  await append('other');
  await eventually('the records to be stored', async () => (await audit()).totals.in_flight === 0);
  const own = `records WHERE visitor_id = '${visitor}'`;
  const [first] = await rows(`SELECT toYYYYMM(received_at) AS month FROM ${own} LIMIT 1`);
  const at = weir.clock();
  const head = { siteId: SITE, erasureId: `erasure_${ms}`, at, whole: false };
  // An insert without a token: for ClickHouse, this is the same as an insert whose token it has forgotten. The books do not have it.
  const kept = 'site_id, received_at, enrichment, log_id, raw_partition, raw_offset';
  await weir.command(`INSERT INTO weir.records (outcome, reason, timestamp, ${kept})
    SELECT 'erased', 'forgotten', received_at, ${kept} FROM weir.${own}`);
  const entries = [entryOf('v', erasureHash('salt', SITE, 'v', visitor))];
  await weir.registry.putTombstone({ ...head, part: 0, salt: 'salt', entries });
  await weir.registry.putErasure({
    ...head,
    ...{ visitors: 1, users: 0, removed: {} },
    phase: 'deleting',
    begun: { [`weir:${first?.month}`]: at - ms },
  });
  await eventually('the erasure', () => weir.registry.erasure(head.erasureId)?.phase === 'done');
  expect(await rows(`SELECT 1 FROM ${own}`)).toEqual([]);
  const counts = (table: string, n: string) =>
    rows(
      `SELECT toString(outcome) AS outcome, toString(reason) AS why, toInt64(${n}) AS n FROM ${table} GROUP BY ALL HAVING n != 0 ORDER BY ALL`,
    );
  expect(await counts('books_sums', 'sum(records)')).toEqual(await counts('records', 'count()'));
  expect(await audit()).toMatchObject({ balanced: true, totals: { erasing: 0 } });
});
