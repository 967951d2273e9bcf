import { randomBytes } from 'node:crypto';
import { requestErasure } from '@weir/control/erasure/request-erasure';
import type { Erasure, Registry } from '@weir/ports/registry';

const DAY_MS = 24 * 3_600_000;
const NOW = Date.UTC(2026, 5, 1);
const retention = { rawRetentionMs: 3 * DAY_MS, enrichedRetentionMs: 30 * DAY_MS };

function done(erasureId: string, siteId: string, at: number, more: Partial<Erasure> = {}): Erasure {
  const counts = { visitors: 1, users: 0, removed: {}, begun: {} };
  return { siteId, erasureId, at, whole: false, ...counts, phase: 'done', finishedAt: at, ...more };
}

/** Requests an erasure in a registry with these erasures, and returns the IDs of those that were removed. */
async function removedBy(erasures: readonly Erasure[]): Promise<readonly string[]> {
  const removed: string[] = [];
  const registry: Partial<Registry> = {
    erasures: () => erasures.toSorted((a, b) => a.at - b.at),
    tombstones: () => [],
    removeErasure: async (erasureId) => void removed.push(erasureId),
    putTombstone: async () => undefined,
    putErasure: async () => undefined,
  };
  const request = { siteId: 'shop', visitors: ['v'], users: [], whole: false };
  await requestErasure({ registry, clock: () => NOW, randomBytes, retention } as never, request);
  return removed;
}

const archived = { archiveEnds: {} };
const others = Array.from({ length: 1_000 }, (_, nth) => done(`other-${nth}`, 'other', NOW - 1_000 + nth, archived));

test('1,000 receipts are kept, and the oldest ones are removed', async () => {
  expect(await removedBy(others.slice(1))).toEqual([]);
  expect(await removedBy(others)).toEqual(['other-0']);
});

test('the last erasure of each site that was done without an archive is kept while the topics can have its records', async () => {
  const old = NOW - 68 * DAY_MS;
  const erasures = [
    done('too-old', 'gone', old),
    done('first', 'blog', NOW - 60 * DAY_MS),
    done('last', 'blog', NOW - 59 * DAY_MS),
    done('archived', 'blog', NOW - 58 * DAY_MS, archived),
  ];
  expect(await removedBy([...erasures, ...others])).toEqual(['too-old', 'first', 'archived', 'other-0']);
});
