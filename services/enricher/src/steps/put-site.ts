import type { Registry } from '@weir/ports/registry';
import type { Step } from '../pipeline/step.ts';

const DROPPED = { outcome: 'dropped', reason: 'site_removed', ruleId: '' } as const;

/**
 * Fills in the site. Drops a record whose site was removed after the gateway had accepted it. The gateway accepts records only of sites that it
 * knows. A site that is unknown here after the registry (docs/glossary.md) has read its newest changes was therefore removed.
 */
export function createPutSite(registry: Registry): Step {
  return {
    name: 'put-site',
    needsNewerRegistry: ({ siteId }) => registry.site(siteId) === undefined,
    apply(event) {
      event.site = registry.site(event.siteId);
      return event.site === undefined ? DROPPED : undefined;
    },
  };
}
