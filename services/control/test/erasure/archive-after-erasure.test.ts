import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { type Archiver, startArchiver } from '@weir/archiver/archiver';
import { DependencyError } from '@weir/domain/errors';
import { GROUP_ARCHIVER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { archivedRecords } from '../../../archiver/test/archived-records.ts';
import { openReplayHarness, type ReplayHarness } from '../replay-harness.ts';

jest.setTimeout(600_000);

const WITHIN_MS = 150_000;
let folder: string;
let store: ObjectStore;
let weir: ReplayHarness;
let archiver: Archiver | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-archive-after-erasure-'));
  store = openFileObjectStore(folder);
  weir = await openReplayHarness(60);
});
afterEach(async () => {
  await archiver?.close();
  await weir.close();
  rmSync(folder, { recursive: true });
});

const erasure = async (id: string) => (await weir.call('GET', `/erasures/${id}`)).body.data;

const request = async (site: string, body: object): Promise<string> =>
  (await weir.call('POST', `/sites/${site}/erasures`, body)).body.data.erasure_id;

async function forget(site: string, body: object): Promise<string> {
  const id = await request(site, body);
  await eventually('the erasure is done', async () => (await erasure(id)).phase === 'done', WITHIN_MS);
  return id;
}

/** Archives both topics, in segments of at most this size, and resolves when the archive has all of their records. */
async function archiveAll(segmentBytesMax: number): Promise<void> {
  const { eventLog } = weir;
  const limits = { segmentBytesMax, lingerMs: 100, retentionMs: undefined, upkeepMs: 3_600_000 };
  const [logger, metrics] = [createLogger('silent'), createMetrics()];
  archiver = await startArchiver({ eventLog, store, clock: Date.now, logger, metrics, limits });
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    await eventually(
      `${topic} is archived`,
      async () => (await eventLog.positions(topic, GROUP_ARCHIVER)).every(({ end, committed }) => committed === end),
      WITHIN_MS,
    );
  }
}

/** Resolves when these erasures are done, also in the archive. */
async function untilArchiveErased(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await eventually(
      'the archive is erased',
      async () => {
        const { phase, archive } = await erasure(id);
        return phase === 'done' && archive !== null;
      },
      WITHIN_MS,
    );
  }
}

/** The number of archived records of a site that contain this text. */
async function naming(topic: string, site: string, text: string): Promise<number> {
  const lines = (await archivedRecords(store, topic)).map(({ value }) => Buffer.from(value).toString());
  return lines.filter((line) => line.includes(`"${site}"`) && line.includes(text)).length;
}

test('an archive that begins after erasures does not keep the erased persons', async () => {
  const first = await forget('shop', { users: ['user-2'] });
  const ids = [first, await forget('shop', { visitors: ['visitor-1'] }), await forget('blog', { users: ['user-3'] })];
  const { finished_at: finishedAt } = await erasure(first);
  await archiveAll(20_000);
  // The topics still have the raw records of the erased persons, so the archive has them too.
  expect(await naming(TOPIC_RAW, 'shop', 'user-2"')).toBeGreaterThan(0);

  await weir.restartErasures(store);
  await untilArchiveErased(ids);
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    expect(await naming(topic, 'shop', 'user-2"')).toBe(0);
    expect(await naming(topic, 'shop', 'visitor-1"')).toBe(0);
    expect(await naming(topic, 'blog', 'user-3"')).toBe(0);
    expect(await naming(topic, 'shop', 'user-4"')).toBeGreaterThan(0);
    expect(await naming(topic, 'blog', 'user-2"')).toBeGreaterThan(0);
  }
  const { archive, remains, finished_at } = await erasure(first);
  expect(archive.records[TOPIC_RAW]).toBeGreaterThan(0);
  expect(remains.map(({ kind }: { kind: string }) => kind)).not.toContain('archive');
  expect(finished_at).toBe(finishedAt);
});

test('an archive that begins after erasures does not keep persons whose receipts are gone', async () => {
  const [gone, last] = [await forget('shop', { users: ['user-2'] }), await forget('shop', { users: ['user-3'] })];
  await weir.registry.removeErasure(gone);
  await archiveAll(20_000);
  expect(await naming(TOPIC_RAW, 'shop', 'user-2"')).toBeGreaterThan(0);
  await weir.restartErasures(store);
  await untilArchiveErased([last]);
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    for (const user of ['user-2', 'user-3']) expect(await naming(topic, 'shop', `${user}"`)).toBe(0);
    expect(await naming(topic, 'shop', 'user-4"')).toBeGreaterThan(0);
  }
});

test('an erasure whose pass over the archive was interrupted does not count for an erasure from the time without an archive', async () => {
  await archiveAll(5_000);
  let rewrites = 0;
  const failing: ObjectStore = {
    ...store,
    async replace(...replaced) {
      rewrites += 1;
      if (rewrites > 6) throw new DependencyError('object_store_unavailable', 'of the test');
      return store.replace(...replaced);
    },
  };
  await weir.restartErasures(failing);
  const interrupted = await request('shop', { users: ['user-2'] });
  const problem = async () => (await erasure(interrupted)).problem ?? '';
  await eventually('the pass stops', async () => (await problem()).includes('of the test'), WITHIN_MS);
  await weir.restartErasures(undefined);
  const ids = [interrupted, await forget('shop', { users: ['user-3'] })];
  await weir.restartErasures(store);
  await untilArchiveErased(ids);
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    expect(await naming(topic, 'shop', 'user-2"')).toBe(0);
    expect(await naming(topic, 'shop', 'user-3"')).toBe(0);
  }
});
