import { setTimeout as sleep } from 'node:timers/promises';
import { namedEntries, newErasureSalt } from '@weir/domain/erasure/tombstone';
import type { Erasure, Registry } from '@weir/ports/registry';
import type { AdminDeps, TopicRetention } from '../control-deps.ts';
import { randomId } from '../registry/random-id.ts';
import { canBeArchivedLater, endedWithoutArchive } from './erase-archive.ts';
import { tombstoneParts } from './tombstone-parts.ts';

export interface ErasureRequest {
  readonly siteId: string;
  readonly visitors: readonly string[];
  readonly users: readonly string[];
  /** True if all records of the site are erased. */
  readonly whole: boolean;
  /**
   * Set only if the erasure also removes the site: the `createdAt` of the site. The erasure then also erases records that gateways accept before
   * they know of the removal.
   */
  readonly removesSite?: number;
}

/** A change of the registry reaches every process within this time. */
export const REGISTRY_LAG_MS = 2_000;

const PAUSE_POLL_MS = 50;
const OPEN_ERASURES_MAX = 100;
export const TOO_MANY_ERASURES = `${OPEN_ERASURES_MAX} erasures wait, the most there can be: try again when one is done`;
/** The number of receipts of finished erasures that are kept, in addition to those of `surplusReceipts`. */
const DONE_ERASURES_MAX = 1_000;

/** Whether the writers pause, for a swap (which exchanges the tables) or for a backup. No erasure may change the tables during such a pause. */
export function doWritersPause(registry: Registry): boolean {
  const pause = registry.writersPause();
  return pause !== undefined && !pause.over;
}

/** Resolves when the writers do not pause. Rejects if `signal` is aborted while it waits. */
export async function writersPauseEnds(registry: Registry, signal: AbortSignal): Promise<void> {
  while (doWritersPause(registry)) await sleep(PAUSE_POLL_MS, undefined, { signal });
}

export function hasOpenErasure(registry: Pick<Registry, 'erasures'>): boolean {
  return registry.erasures().some(({ phase }) => phase !== 'done');
}

/**
 * Stores a new erasure and its tombstones (docs/glossary.md). Once the promise has resolved, the erasure is certain to be carried out later, even
 * after a crash. Resolves with undefined, and stores nothing, if too many erasures wait or run. Call it within `AdminDeps.runExclusive`.
 */
export async function requestErasure(deps: AdminDeps, request: ErasureRequest): Promise<Erasure | undefined> {
  const { registry, clock, randomBytes, retention } = deps;
  const { siteId, visitors, users, whole, removesSite } = request;
  const earlier = registry.erasures();
  if (earlier.filter(({ phase }) => phase !== 'done').length >= OPEN_ERASURES_MAX) return undefined;
  const salt = registry.tombstones(siteId)[0]?.salt ?? newErasureSalt(randomBytes);
  const erasureId = randomId('erasure', randomBytes);
  const at = clock();
  const entries = namedEntries(salt, siteId, visitors, users);
  const head = { siteId, erasureId, part: 0, at, salt, whole };
  const parts = whole ? [{ ...head, entries: [] }] : tombstoneParts(head, [...new Set(entries)]);
  for (const { erasureId: old } of surplusReceipts(registry, retention, at)) await registry.removeErasure(old);
  for (const part of parts) await registry.putTombstone(part);
  const counts = { visitors: visitors.length, users: users.length };
  const asked = { siteId, erasureId, at, whole, ...counts, ...(removesSite !== undefined && { removesSite }) };
  const erasure: Erasure = { ...asked, phase: 'waiting', removed: {}, begun: {} };
  await registry.putErasure(erasure);
  return erasure;
}

/**
 * Returns the finished erasures to remove from the registry before another one is stored, oldest first. For each site, keeps the last erasure that
 * was done without an archive: if an archive is set up later, this erasure is carried out in it, and also all others of the site whose receipts are
 * gone.
 */
function surplusReceipts(registry: Registry, topics: TopicRetention, now: number): readonly Erasure[] {
  const done = registry.erasures().filter(({ phase }) => phase === 'done');
  const surplus = done.slice(0, Math.max(0, done.length + 1 - DONE_ERASURES_MAX));
  if (surplus.length === 0) return surplus;
  const last = new Map(endedWithoutArchive(registry).map(({ siteId, erasureId }) => [siteId, erasureId]));
  return surplus.filter((one) => last.get(one.siteId) !== one.erasureId || !canBeArchivedLater(one, topics, now));
}
