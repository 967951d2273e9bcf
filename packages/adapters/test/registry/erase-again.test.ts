import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErasurePhase } from '@weir/ports/registry';
import { openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';
import { eraseAgain } from '../../src/registry/erase-again.ts';
import { openLogRegistry } from '../../src/registry/log-registry.ts';

const BEGUN_AT = 1_000;
const ERASURES: readonly (readonly [erasureId: string, phase: ErasurePhase, finishedAt: number | undefined])[] = [
  ['waits', 'waiting', undefined],
  ['resolves', 'resolving', undefined],
  ['deletes', 'deleting', undefined],
  ['has-deleted-rows', 'archive', undefined],
  ['ended-before', 'done', BEGUN_AT - 1],
  ['ended-after', 'done', BEGUN_AT],
];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-erase-again-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function withRegistry<T>(
  work: (registry: Awaited<ReturnType<typeof openLogRegistry>>) => Promise<T>,
): Promise<T> {
  const log = { folder, partitions: 1, clock: Date.now, retentionMs: () => 3_600_000 };
  const eventLog = await openLmdbEventLog(log);
  const registry = await openLogRegistry({ eventLog, clock: Date.now, randomSalt: () => 'ab' });
  try {
    return await work(registry);
  } finally {
    await registry.close();
    await eventLog.close();
  }
}

const tombstone = (erasureId: string) => {
  return { siteId: 'shop', erasureId, part: 0, at: 5, salt: 'salt', whole: false, entries: [`v:${'ab'.repeat(16)}`] };
};

test('erasures whose deletions the restored tables can lack begin again; the others stay as they are', async () => {
  await withRegistry(async (registry) => {
    for (const [erasureId, phase, finishedAt] of ERASURES) {
      const counts = { visitors: 1, users: 0, removed: { records: 2 }, begun: {} };
      const archive = phase === 'archive' ? { archiveEnds: { 'events.raw': [7] } } : {};
      const open = phase === 'done' || phase === 'archive' ? {} : { removesSite: 3, ends: [9] };
      const erasure = { siteId: 'shop', erasureId, at: 5, whole: false, phase, ...counts, ...archive, ...open };
      await registry.putTombstone(tombstone(erasureId));
      await registry.putErasure({ ...erasure, ...(finishedAt === undefined ? {} : { finishedAt }) });
    }
  });

  const tombstones = [...ERASURES.map(([erasureId]) => tombstone(erasureId)), tombstone('after-the-backup')];
  expect(await eraseAgain({ folder, tombstones, begunAt: BEGUN_AT })).toBe(6);

  await withRegistry(async (registry) => {
    const phases = registry.erasures().map(({ erasureId, phase, restored }) => [erasureId, phase, restored === true]);
    expect(phases.toSorted()).toEqual([
      ['after-the-backup', 'waiting', true],
      ['deletes', 'waiting', true],
      ['ended-after', 'waiting', true],
      ['ended-before', 'done', false],
      ['has-deleted-rows', 'waiting', true],
      ['resolves', 'waiting', true],
      ['waits', 'waiting', true],
    ]);
    // The tables can lack records that an open erasure had waited for, so it waits again. It also makes sure again that its site is removed.
    for (const erasureId of ['deletes', 'resolves', 'waits']) {
      const { ends, removesSite, removed } = registry.erasure(erasureId) ?? {};
      expect([ends, removesSite, removed]).toEqual([undefined, 3, {}]);
    }
    expect(registry.erasure('has-deleted-rows')?.archiveEnds).toEqual({ 'events.raw': [7] });
  });
});

test('an erasure of which the backup has only the tombstone begins again', async () => {
  const begunAt = 24 * 3_600_000;
  const at = { 'being-requested': begunAt, 'receipt-removed': 5 };
  const tombstones = Object.entries(at).map(([erasureId, time]) => ({ ...tombstone(erasureId), at: time }));
  await withRegistry(async (registry) => {
    for (const one of tombstones) await registry.putTombstone(one);
  });
  expect(await eraseAgain({ folder, tombstones, begunAt })).toBe(1);
  await withRegistry(async (registry) => {
    expect(registry.erasures().map(({ erasureId }) => erasureId)).toEqual(['being-requested']);
  });
});

test.each(['follow', 'swap'] as const)(
  'a replay in the phase %s is removed, and the pause of its swap ends',
  async (phase) => {
    await withRegistry(async (registry) => {
      for (const replayId of ['first', 'second']) {
        const swap =
          phase === 'swap' ? { swap: { number: 7, generation: 2, positions: [{ offset: 3, rawOffset: 3 }] } } : {};
        await registry.putReplayRequest({ replayId, from: 'enriched', startedAt: 1, isAutomatic: true });
        await registry.putReplayState({ replayId, phase, starts: [], recordsCopied: 2, recordsToCopy: 2, ...swap });
        await registry.putReplayWish({ replayId, wish: 'swap', askedAt: 2 });
      }
      await registry.putWritersPause({ swap: 7, over: false, requestedAt: 3 });
    });

    expect(await eraseAgain({ folder, tombstones: [], begunAt: BEGUN_AT })).toBe(0);

    await withRegistry(async (registry) => {
      expect(registry.replay()).toBeUndefined();
      expect(registry.writersPause()).toEqual({ swap: 7, over: true, requestedAt: 3 });
    });
  },
);
