import { compileExclusions, type ExclusionMatcher, excludedBy } from '@weir/domain/exclusion';
import type { Registry } from '@weir/ports/registry';
import type { Step } from '../hit.ts';

/** Drops collect hits of every type and imported ones, never what a server sent (decisions.md, Exclusion rules). */
export function createDropExcluded(registry: Registry): Step {
  const matchers = new Map<string, ExclusionMatcher | undefined>();
  registry.onChange((siteId) => matchers.delete(siteId));

  const matcherOf = (siteId: string): ExclusionMatcher | undefined => {
    if (!matchers.has(siteId)) matchers.set(siteId, compileExclusions(registry.exclusions(siteId)));
    return matchers.get(siteId);
  };

  return (hit) => {
    if (hit.kind !== 'collect' && hit.kind !== 'import') return undefined;
    // A site that isn't known (yet) must not stay in the map for ever.
    const matches = hit.site === undefined ? undefined : matcherOf(hit.siteId);
    if (matches === undefined) return undefined;
    const rule = matches({
      ip: hit.ip,
      pathname: hit.pathname,
      hostname: hit.hostname,
      country: hit.place?.country ?? '',
      userAgent: hit.userAgent,
      visitorId: hit.visitorId,
      bot: hit.bot.name,
    });
    return rule === undefined ? undefined : { outcome: 'dropped', reason: excludedBy(rule), ruleId: rule.ruleId };
  };
}
