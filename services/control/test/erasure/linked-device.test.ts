import { randomBytes } from 'node:crypto';
import { Taken } from '@weir/control/background/held-work';
import { requestErasure } from '@weir/control/erasure/request-erasure';
import { runErasure } from '@weir/control/erasure/run-erasure';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord, type RecordKind } from '@weir/domain/records/raw-record';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from '../control-harness.ts';

const SITE = 'shop';
const weir = useOpened(openControlHarness);
beforeAll(async () => {
  await weir.call('POST', '/sites', { site_id: SITE, name: 'N', domain: 'example.com' });
});

let ids = 0;
async function append(kind: RecordKind, body: { readonly visitor_id: string }, receivedAt: number): Promise<void> {
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = { eventId, kind, siteId: SITE, receivedAt, sealedIp: '', userAgent: 'Firefox', acceptLanguage: '' };
  const parts = { siteId: SITE, eventId, userId: '', visitorId: body.visitor_id, idempotencyKey: '' };
  const key = partitionKey(parts, kind === 'identify');
  await weir.eventLog.append(TOPIC_RAW, [{ key, value: encodeRawRecord(head, JSON.stringify(body)) }]);
}
const hit = { type: 'pageview', visitor_id: 'zoe-v', session_id: 'zoe-s', site_id: SITE, url: 'https://example.com/' };

const stored = () =>
  eventually('everything to be stored', async () => {
    const { body } = await weir.call('GET', '/audit');
    expect(body.data).toMatchObject({ balanced: true, totals: { in_flight: 0 } });
    return true;
  });
const enriched = () =>
  eventually('everything to be enriched', async () => {
    const positions = await weir.eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
    return positions.every(({ end, committed = 0 }) => committed === end);
  });

test('a late row of a linked device that was enriched before the device was in the tombstone is erased', async () => {
  await append('collect', hit, weir.clock());
  await append('identify', { ...hit, user_id: 'zoe-u', email: 'zoe@mail.example' } as never, weir.clock());
  await stored();
  // While the writers pause, the harness does not carry out erasures, so the test carries out this one itself.
  const pause = { swap: 1, owner: 'swap', requestedAt: weir.clock() } as const;
  await weir.registry.putWritersPause({ ...pause, over: false });
  const request = { siteId: SITE, visitors: [], users: ['zoe-u'], whole: false };
  const { erasureId = '' } = (await requestErasure({ ...weir, randomBytes } as never, request)) ?? {};

  let hasDevice = false;
  let isOver = false;
  const { registry, analytics } = weir;
  const erasing = runErasure(
    {
      ...weir,
      registry: {
        ...registry,
        async putTombstone(part) {
          await append('collect', hit, part.at - 1);
          await enriched();
          await registry.putTombstone(part);
          hasDevice = true;
        },
      },
      analytics: {
        ...analytics,
        highestRawOffset(...args) {
          if (hasDevice) isOver = true;
          return analytics.highestRawOffset(...args);
        },
      },
      ...{ workerId: 'test', alone: true, signal: new AbortController().signal, detachedUntil: () => undefined },
    },
    erasureId,
  ).catch((error: unknown) => {
    // The harness can take over the erasure as soon as the writers continue.
    if (!(error instanceof Taken)) throw error;
  });
  void erasing.finally(() => {
    isOver = true;
  });
  await eventually('the erasure to wait for the writer, or to end', async () => isOver);
  await registry.putWritersPause({ ...pause, over: true });
  await erasing;
  await eventually('the erasure', async () => {
    return (await weir.call('GET', `/erasures/${erasureId}`)).body.data.phase === 'done';
  });
  await stored();
  const rows = await analytics.select<{ outcome: string; n: number }>(
    'SELECT toString(outcome) AS outcome, toUInt32(count()) AS n FROM records GROUP BY outcome',
  );
  expect(rows).toEqual([{ outcome: 'erased', n: 3 }]);
});
