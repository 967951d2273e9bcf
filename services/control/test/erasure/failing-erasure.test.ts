import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { startArchiver } from '@weir/archiver/archiver';
import { type StartErasuresDeps, startErasures } from '@weir/control/erasure/start-erasures';
import { DependencyError } from '@weir/domain/errors';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord, type RecordKind } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Erasure } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { type ControlHarness, openControlHarness } from '../control-harness.ts';

jest.setTimeout(600_000);

const WITHIN_MS = 150_000;
const folder = mkdtempSync(join(tmpdir(), 'weir-failing-erasure-'));
const store = openFileObjectStore(folder);
const logger = createLogger('silent');
let weir: ControlHarness;
beforeAll(async () => {
  weir = await openControlHarness();
  for (const siteId of ['shop', 'other']) {
    await weir.call('POST', '/sites', { site_id: siteId, name: 'N', domain: 'example.com' });
  }
});
afterAll(async () => {
  await weir.close();
  rmSync(folder, { recursive: true });
});

/** While the test runs, erasures are carried out with these dependencies. */
async function withErasures(changed: Partial<StartErasuresDeps>, test: () => Promise<void>): Promise<void> {
  await weir.restartErasures(undefined, async () => {
    const topics = { rawRetentionMs: 72 * 3_600_000, enrichedRetentionMs: 30 * 24 * 3_600_000 };
    const ready = Promise.resolve();
    const metrics = { failing: () => undefined };
    const own = { alone: true, workerId: 'own', logger, metrics, detachedUntil: () => undefined };
    const erasures = startErasures({ ...weir, ...own, ready, topics, ...changed });
    await test().finally(() => erasures.close());
  });
}

async function ask(body: object, site = 'shop'): Promise<string> {
  const { status, body: answer } = await weir.call('POST', `/sites/${site}/erasures`, body);
  expect(status).toBe(202);
  return answer.data.erasure_id;
}
const erasure = async (id: string) => (await weir.call('GET', `/erasures/${id}`)).body.data;
const shows = (id: string, problem: RegExp) =>
  eventually(`${id} shows ${problem}`, async () => problem.test((await erasure(id)).problem ?? ''), WITHIN_MS);
const done = (id: string) =>
  eventually(
    'the erasure to be done',
    async () => {
      const { phase, problem } = await erasure(id);
      if (phase !== 'done') throw new Error(`${phase}: ${problem}`);
      return problem === null;
    },
    WITHIN_MS,
  );
/** Waits until all erasures are done. With an archive, they must also be done in the archive. */
const wholeWith = (archive: ObjectStore | undefined) => {
  const isWhole = ({ phase, archiveEnds }: Erasure) => phase === 'done' && (!archive || archiveEnds !== undefined);
  return eventually('all erasures to be done', () => weir.registry.erasures().every(isWhole), WITHIN_MS);
};

let ids = 0;
async function append(kind: RecordKind, body: { readonly visitor_id: string; readonly [name: string]: unknown }) {
  const siteId = 'shop';
  const eventId = `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`;
  const head = { eventId, kind, siteId, receivedAt: weir.clock(), sealedIp: '', userAgent: 'F', acceptLanguage: '' };
  const parts = { siteId, eventId, userId: '', visitorId: body.visitor_id, idempotencyKey: '' };
  const key = partitionKey(parts, kind === 'identify');
  await weir.eventLog.append(TOPIC_RAW, [{ key, value: encodeRawRecord(head, JSON.stringify(body)) }]);
}
const stored = () =>
  eventually('everything to be stored', async () => {
    const { body } = await weir.call('GET', '/audit');
    expect(body.data).toMatchObject({ balanced: true, totals: { in_flight: 0 } });
    return true;
  });

test('while an erasure in the archive fails, no erasure from before the archive is opened again', async () => {
  for (const visitor of ['old-1', 'old-2', 'old-3']) await done(await ask({ visitors: [visitor] }));
  let failures = 0;
  let isBroken = true;
  const archive: ObjectStore = {
    ...store,
    list(prefix) {
      if (!isBroken) return store.list(prefix);
      failures++;
      throw new DependencyError('object_store_damaged', 'a segment is damaged');
    },
  };
  const open = () => weir.registry.erasures().filter(({ phase }) => phase !== 'done');
  await withErasures({ archive }, async () => {
    await eventually('two attempts have failed', () => failures >= 2);
    expect(open()).toHaveLength(1);
    isBroken = false;
    await eventually('all are done', () => open().length === 0);
  });
});

test('an erasure that fails is retried and shows why, and does not stop the erasures after it', async () => {
  let isBroken = true;
  let aheadMs = 0;
  const clock = () => weir.clock() + aheadMs;
  const publish = async (): Promise<void> => {
    if (isBroken) throw new DependencyError('object_store_unavailable', 'the disk is gone');
  };
  await withErasures({ publish, clock }, async () => {
    const both = [await ask({ visitors: ['failing-1'] }), await ask({ visitors: ['failing-2'] })];
    for (const id of both) {
      await shows(id, /would bring them back: the disk is gone$/);
      expect((await erasure(id)).finished_at).toBeNull();
    }
    aheadMs = -3_600_000;
    isBroken = false;
    for (const id of both) await done(id);
  });
});

test('an erasure fails while its records are not stored, and ends when they are', async () => {
  await append('collect', { type: 'pageview', visitor_id: 'v', session_id: 's', url: 'https://example.com/' });
  await stored();
  let isStopped = true;
  const { highestRawOffset } = weir.analytics;
  const analytics: ControlHarness['analytics'] = {
    ...weir.analytics,
    highestRawOffset: async (...args) => (isStopped ? -1 : highestRawOffset(...args)),
  };
  await withErasures({ analytics, stalledMs: 100 }, async () => {
    const id = await ask({ visitors: ['v'] });
    await shows(id, /^the records of events\.raw \d before the erasure are not stored/);
    isStopped = false;
    await done(id);
  });
});

test('an erasure does not remove what an older one of its site needs to find its person', async () => {
  const session = { visitor_id: 'zoe-v', session_id: 'zoe-s' };
  await append('identify', { visitor_id: 'zoe-v', user_id: 'zoe-u', payment_customer_id: 'zoe-c' });
  await append('event', { visitor_id: 'elsewhere', name: 'paid', properties: { payment_customer_id: 'zoe-c' } });
  await append('collect', { type: 'pageview', ...session, url: 'https://example.com/' });
  await stored();
  let isBroken = true;
  const { select } = weir.analytics;
  const analytics: ControlHarness['analytics'] = {
    ...weir.analytics,
    async select(sql, ...args) {
      if (isBroken && sql.includes('FROM payment_customers'))
        throw new DependencyError('analytics_unavailable', 'no answer');
      return select(sql, ...args);
    },
  };
  await withErasures({ analytics }, async () => {
    const user = await ask({ users: ['zoe-u'] });
    await shows(user, /no answer/);
    const visitor = await ask({ visitors: ['zoe-v'] });
    await done(await ask({ visitors: ['someone'] }, 'other'));
    isBroken = false;
    for (const id of [user, visitor]) await done(id);
  });
  const rows = await weir.analytics.select(
    "SELECT event_name FROM records WHERE outcome = 'row' AND event_name = 'paid' AND site_id = 'shop'",
  );
  expect(rows).toEqual([]);
});

test('an erasure that waits for the archiver does not stop the erasures after it', async () => {
  await withErasures({ archive: store }, async () => {
    const both = [await ask({ visitors: ['waiting-1'] }), await ask({ visitors: ['waiting-2'] }, 'other')];
    for (const id of both) await shows(id, /^waits until the role archiver has archived/);
    const limits = { segmentBytesMax: 20_000, lingerMs: 100, retentionMs: undefined, upkeepMs: 3_600_000 };
    const { eventLog, clock } = weir;
    const archiver = await startArchiver({ eventLog, store, clock, logger, metrics: createMetrics(), limits });
    for (const id of both) await done(id);
    // The erasures of earlier tests are carried out in the archive too. They must end here: without the archive of this test, they could not end.
    await wholeWith(store);
    await archiver.close();
  });
});

test.each([
  ['the tables', undefined],
  ['the archive', store],
])('a retry that only has to publish the tombstones does not erase %s again', async (_name, archive) => {
  const { select, change } = weir.analytics;
  let statements = 0;
  const analytics: ControlHarness['analytics'] = {
    ...weir.analytics,
    select(...args) {
      statements++;
      return select(...args);
    },
    change(...args) {
      statements++;
      return change(...args);
    },
  };
  let id = '';
  const seen: { statements: number; problem: string | undefined }[] = [];
  const publish = async (): Promise<void> => {
    if (id === '') return;
    seen.push({ statements, problem: weir.registry.erasure(id)?.problem });
    if (seen.length < 3) throw new DependencyError('object_store_unavailable', 'the disk is gone');
  };
  const { eventLog, clock } = weir;
  const limits = { segmentBytesMax: 20_000, lingerMs: 100, retentionMs: undefined, upkeepMs: 3_600_000 };
  const archiver = await startArchiver({ eventLog, store, clock, logger, metrics: createMetrics(), limits });
  await withErasures({ analytics, publish, archive }, async () => {
    await wholeWith(archive);
    statements = 0;
    id = await ask({ visitors: ['published'] });
    await done(id);
  });
  await archiver.close();
  expect(seen[0]?.statements).toBeGreaterThan(0);
  const problem = expect.stringMatching(/the disk is gone$/);
  const same = { statements: seen[0]?.statements, problem };
  expect(seen.slice(1)).toEqual([same, same]);
});
