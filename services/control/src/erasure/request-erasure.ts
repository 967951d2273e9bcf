import { namedEntries, newErasureSalt } from '@weir/domain/erasure/tombstone';
import type { Erasure, Registry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';
import { randomId } from '../registry/random-id.ts';
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

const OPEN_ERASURES_MAX = 100;
export const TOO_MANY_ERASURES = `${OPEN_ERASURES_MAX} erasures wait, the most there can be: try again when one is done`;
/** The number of receipts of finished erasures that are kept. */
const DONE_ERASURES_MAX = 1_000;

/** Whether the writers pause, for a swap (which exchanges the tables) or for a backup. No erasure may change the tables during such a pause. */
export function doWritersPause(registry: Registry): boolean {
  const pause = registry.writersPause();
  return pause !== undefined && !pause.over;
}

export function hasOpenErasure(registry: Pick<Registry, 'erasures'>): boolean {
  return registry.erasures().some(({ phase }) => phase !== 'done');
}

/**
 * Stores a new erasure and its tombstones (docs/glossary.md). Once the promise has resolved, the erasure is certain to be carried out later, even
 * after a crash. Resolves with undefined, and stores nothing, if too many erasures wait or run. Call it within `AdminDeps.runExclusive`.
 */
export async function requestErasure(deps: AdminDeps, request: ErasureRequest): Promise<Erasure | undefined> {
  const { registry, clock, randomBytes } = deps;
  const { siteId, visitors, users, whole, removesSite } = request;
  const earlier = registry.erasures();
  if (earlier.filter(({ phase }) => phase !== 'done').length >= OPEN_ERASURES_MAX) return undefined;
  const salt = registry.tombstones(siteId)[0]?.salt ?? newErasureSalt(randomBytes);
  const erasureId = randomId('erasure', randomBytes);
  const at = clock();
  const entries = namedEntries(salt, siteId, visitors, users);
  const head = { siteId, erasureId, part: 0, at, salt, whole };
  const parts = whole ? [{ ...head, entries: [] }] : tombstoneParts(head, [...new Set(entries)]);
  const done = earlier.filter(({ phase }) => phase === 'done');
  for (const { erasureId: old } of done.slice(0, Math.max(0, done.length + 1 - DONE_ERASURES_MAX))) {
    await registry.removeErasure(old);
  }
  for (const part of parts) await registry.putTombstone(part);
  const counts = { visitors: visitors.length, users: users.length };
  const asked = { siteId, erasureId, at, whole, ...counts, ...(removesSite !== undefined && { removesSite }) };
  const erasure: Erasure = { ...asked, phase: 'waiting', removed: {}, begun: {} };
  await registry.putErasure(erasure);
  return erasure;
}
