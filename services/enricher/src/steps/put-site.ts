import type { Registry } from '@weir/ports/registry';
import type { Step } from '../hit.ts';

/** A site that a gateway knew, but not we, may be too new for us: the registry is everywhere within a second. */
const REGISTRY_LAG_MAX_MS = 10_000;
const DROPPED = { outcome: 'dropped', reason: 'site_removed', ruleId: '' } as const;

/** The record's site; what was accepted for a site that has been removed since is dropped. */
export function createPutSite(registry: Registry, clock: () => number): Step {
  const removed = new Set<string>();
  registry.onChange((siteId) => {
    if (registry.site(siteId) === undefined) removed.add(siteId);
    else removed.delete(siteId);
  });
  return (hit) => {
    hit.site = registry.site(hit.siteId);
    if (hit.site !== undefined) return undefined;
    return removed.has(hit.siteId) || clock() - hit.receivedAt > REGISTRY_LAG_MAX_MS ? DROPPED : undefined;
  };
}
