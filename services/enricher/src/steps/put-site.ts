import type { Registry } from '@weir/ports/registry';
import type { Step } from '../pipeline/step.ts';

/**
 * The registry of this process can be behind that of the gateway, usually by less than a second. If a record was received longer
 * ago than this and its site is unknown, the site was removed.
 */
const REGISTRY_LAG_MAX_MS = 10_000;
const DROPPED = { outcome: 'dropped', reason: 'site_removed', ruleId: '' } as const;

/** Fills in the site. Drops a record whose site was removed after the gateway had accepted it. */
export function createPutSite(registry: Registry, clock: () => number): Step {
  const removed = new Set<string>();
  registry.onChange((siteId) => {
    if (registry.site(siteId) === undefined) removed.add(siteId);
    else removed.delete(siteId);
  });
  return {
    name: 'put-site',
    apply(event) {
      event.site = registry.site(event.siteId);
      if (event.site !== undefined) return undefined;
      return removed.has(event.siteId) || clock() - event.receivedAt > REGISTRY_LAG_MAX_MS ? DROPPED : undefined;
    },
  };
}
