import { compileExclusions, type ExclusionMatcher, excludedBy } from '@weir/domain/exclusion/exclusion';
import type { Registry } from '@weir/ports/registry';
import type { Step } from '../pipeline/step.ts';

/** Applies the exclusion rules of a site to hits of POST /api/collect and to imported hits, never to server events (docs/api.md, Exclusion rules). */
export function createDropExcluded(registry: Registry): Step {
  const matchers = new Map<string, ExclusionMatcher | undefined>();
  registry.onChange((siteId) => matchers.delete(siteId));

  const matcherOf = (siteId: string): ExclusionMatcher | undefined => {
    if (!matchers.has(siteId)) matchers.set(siteId, compileExclusions(registry.exclusions(siteId)));
    return matchers.get(siteId);
  };

  const apply: Step['apply'] = (event) => {
    if (event.kind !== 'collect' && event.kind !== 'import') return undefined;
    const matches = matcherOf(event.siteId);
    if (matches === undefined) return undefined;
    const rule = matches({
      ip: event.ip,
      pathname: event.pathname,
      hostname: event.hostname,
      country: event.geo?.country ?? '',
      userAgent: event.userAgent,
      visitorId: event.visitorId,
      bot: event.bot.name,
    });
    return rule === undefined ? undefined : { outcome: 'dropped', reason: excludedBy(rule), ruleId: rule.ruleId };
  };
  return { name: 'drop-excluded', apply };
}
