import { DependencyError } from '@weir/domain/errors';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from '../control-harness.ts';

const weir = useOpened(openControlHarness);

let ids = 0;

/** Appends a record like a gateway that does not know yet that the site was removed. */
async function append(siteId: string): Promise<void> {
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = { eventId, kind: 'event', siteId, receivedAt: weir.clock(), sealedIp: '' } as const;
  const key = partitionKey({ siteId, eventId, userId: '', visitorId: '', idempotencyKey: '' }, false);
  const value = encodeRawRecord({ ...head, userAgent: '', acceptLanguage: '' }, '{"name":"order"}');
  for (const { status } of await weir.eventLog.append(TOPIC_RAW, [{ key, value }])) expect(status).toBe('stored');
}

type Remove = (siteId: string) => Promise<void>;

/** Replaces the next call of `registry.removeSite` by `instead`. */
function removeNext(instead: (siteId: string, remove: Remove) => Promise<void>): void {
  const { removeSite } = weir.registry;
  weir.registry.removeSite = (siteId) => {
    weir.registry.removeSite = removeSite;
    return instead(siteId, removeSite);
  };
}

const unavailable = () => new DependencyError('event_log_unavailable', 'no answer');

async function addSite(siteId: string): Promise<void> {
  await weir.call('POST', '/sites', { site_id: siteId, name: 'N', domain: 'example.com' });
  await append(siteId);
}

/** Waits for the only erasure of the site, and expects that it has removed the site and erased this number of records. */
async function expectRemoved(siteId: string, records: number): Promise<void> {
  const erasures = weir.registry.erasures().filter((one) => one.siteId === siteId);
  expect(erasures).toHaveLength(1);
  await eventually('the erasure to be done', async () => {
    const { data } = (await weir.call('GET', `/erasures/${erasures[0]?.erasureId}`)).body;
    if (data.phase !== 'done') throw new Error(`${data.phase}: ${data.problem}`);
    return true;
  });
  await eventually('everything to be stored', async () => {
    const { totals } = (await weir.call('GET', '/audit')).body.data;
    expect(totals).toMatchObject({ in_flight: 0 });
    return true;
  });
  const outcomes = await weir.analytics.select(
    'SELECT toString(outcome) AS outcome, toUInt32(count()) AS rows FROM records WHERE site_id = {siteId:String} GROUP BY outcome ORDER BY outcome',
    { siteId },
  );
  expect(outcomes).toEqual([{ outcome: 'erased', rows: records }]);
  expect([weir.registry.site(siteId), weir.registry.keys(siteId)]).toEqual([undefined, []]);
  expect((await weir.call('DELETE', `/sites/${siteId}`)).status).toBe(404);
}

test('records that a gateway accepts during a slow removal of their site are erased', async () => {
  await addSite('slow');
  removeNext(async (siteId, remove) => {
    await append(siteId);
    weir.advance(5_000);
    await append(siteId);
    await remove(siteId);
    await append(siteId);
  });
  const { status, body } = await weir.call('DELETE', '/sites/slow');
  expect([status, body.data.erasure_id]).toEqual([200, weir.registry.erasures()[0]?.erasureId]);
  await expectRemoved('slow', 4);
});

test('a removal whose answer was lost is complete, and its erasure has no gap', async () => {
  await addSite('lost');
  await weir.restartErasures(undefined, async () => {
    removeNext(async (siteId, remove) => {
      await remove(siteId);
      throw unavailable();
    });
    expect((await weir.call('DELETE', '/sites/lost')).status).toBe(503);
    weir.advance(5_000);
    await append('lost');
    expect((await weir.call('DELETE', '/sites/lost')).status).toBe(404);
    const refused = await weir.call('POST', '/sites', { site_id: 'lost', name: 'N', domain: 'example.com' });
    expect(refused.status).toBe(409);
  });
  await expectRemoved('lost', 2);
});

test('the erasure completes a removal that was interrupted', async () => {
  await addSite('kept');
  await weir.restartErasures(undefined, async () => {
    removeNext(() => Promise.reject(unavailable()));
    expect((await weir.call('DELETE', '/sites/kept')).status).toBe(503);
    weir.advance(5_000);
    await append('kept');
    removeNext(() => Promise.reject(unavailable()));
    expect((await weir.call('DELETE', '/sites/kept')).status).toBe(503);
  });
  await expectRemoved('kept', 2);
});

test('changes that another process stores after the removal do not stay', async () => {
  await addSite('changed');
  const site = weir.registry.site('changed');
  if (site === undefined) throw new Error('the registry does not have the site');
  const changeLate = async (siteId: string, remove: Remove): Promise<void> => {
    await remove(siteId);
    await weir.registry.putSite(site);
  };
  await weir.restartErasures(undefined, async () => {
    removeNext(changeLate);
    expect((await weir.call('DELETE', '/sites/changed')).status).toBe(200);
    removeNext(async (siteId, remove) => {
      await changeLate(siteId, remove);
      removeNext(async (_siteId, removeAgain) => {
        await removeAgain(siteId);
        const key = { keyId: 'late', siteId, name: 'N', hash: 'ab'.repeat(32), scopes: [], legacyIdentify: false };
        await weir.registry.putKey({ ...key, createdAt: weir.clock() });
      });
    });
  });
  await expectRemoved('changed', 1);
});

test('an erasure whose old state was stored again does not remove a newer site with the same ID', async () => {
  await addSite('newer');
  const site = weir.registry.site('newer');
  if (site === undefined) throw new Error('the registry does not have the site');
  const { body } = await weir.call('DELETE', '/sites/newer');
  const { erasure_id } = body.data;
  const done = () =>
    eventually('the erasure to be done', async () => weir.registry.erasure(erasure_id)?.phase === 'done');
  await done();
  const erasure = weir.registry.erasure(erasure_id);
  if (erasure === undefined) throw new Error('the registry does not have the erasure');
  const { ends: _ends, ...old } = erasure;
  weir.advance(5_000);
  await addSite('newer');
  const newer = weir.registry.site('newer');
  await weir.restartErasures(undefined, () => weir.registry.putErasure({ ...old, phase: 'waiting' }));
  await done();
  expect(newer?.createdAt).toBeGreaterThan(site.createdAt);
  expect(weir.registry.site('newer')).toEqual(newer);
  await append('newer');
  await eventually('everything to be stored', async () => {
    const { totals } = (await weir.call('GET', '/audit')).body.data;
    expect(totals).toMatchObject({ in_flight: 0 });
    return true;
  });
  const outcomes = await weir.analytics.select(
    "SELECT toUInt32(countIf(outcome = 'erased')) AS erased, toUInt32(count()) AS rows FROM records WHERE site_id = 'newer'",
  );
  expect(outcomes).toEqual([{ erased: 1, rows: 3 }]);
});
