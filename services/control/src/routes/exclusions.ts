import { NEW_EXCLUSION } from '@weir/domain/admin-schemas';
import { exclusionValueProblem } from '@weir/domain/exclusion-value';
import type { ExclusionRule, ExclusionType } from '@weir/domain/site';
import type { Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute, param } from '../define-route.ts';

import { randomId } from '../random-id.ts';
import { conflict, created, invalid, notFound, ok } from '../reply.ts';
import { countRuleDrops, type RuleDrops } from '../rule-drops.ts';
import type { Serial } from '../serial.ts';
import { timeText } from '../time-text.ts';
import { compileBody } from '../validate.ts';

const RULES_PER_SITE_MAX = 10_000;
/** Rules that may have to be asked one by one; all others are looked up, however many there are. */
const SOUGHT_RULES_PER_SITE_MAX = 1000;

export function exclusionRoutes(router: Router, deps: ControlDeps, serial: Serial): void {
  const { registry } = deps;
  const checkNew = compileBody<{ readonly type: ExclusionType; readonly value?: string }>(NEW_EXCLUSION);

  defineRoute(router, '/sites/:site_id/exclusions', {
    get: async (request) => {
      const siteId = param(request, 'site_id');
      if (registry.site(siteId) === undefined) return notFound('site');
      const rules = registry.exclusions(siteId);
      const drops = rules.length === 0 ? NO_DROPS : await countRuleDrops(deps.analytics, siteId);
      return ok(rules.map((rule) => ruleView(rule, drops)));
    },
    post: (request) =>
      serial(async () => {
        const siteId = param(request, 'site_id');
        if (registry.site(siteId) === undefined) return notFound('site');
        const checked = checkNew(request.body);
        if ('problem' in checked) return invalid(checked.problem);
        const { type, value = '' } = checked.value;
        const problem = exclusionValueProblem(type, value);
        if (problem !== undefined) return invalid(problem);
        const kept = type === 'bots' ? '' : type === 'country' ? value.toUpperCase() : value;
        const rules = registry.exclusions(siteId);
        if (rules.some((rule) => rule.type === type && rule.value === kept))
          return conflict('the site has this rule already');
        if (rules.length >= RULES_PER_SITE_MAX) {
          return conflict(`the site has ${RULES_PER_SITE_MAX} rules, the most there can be`);
        }
        if (
          isSought(type, kept) &&
          rules.filter((rule) => isSought(rule.type, rule.value)).length >= SOUGHT_RULES_PER_SITE_MAX
        ) {
          return conflict(
            `the site has ${SOUGHT_RULES_PER_SITE_MAX} rules of user agents and of globs that do not end in their only *, the most there can be`,
          );
        }
        const ruleId = randomId('rule', deps.randomBytes);
        const rule: ExclusionRule = { ruleId, siteId, type, value: kept, createdAt: deps.clock() };
        await registry.putExclusion(rule);
        return created(ruleView(rule, NO_DROPS));
      }),
  });

  defineRoute(router, '/sites/:site_id/exclusions/:rule_id', {
    delete: (request) =>
      serial(async () => {
        const siteId = param(request, 'site_id');
        const ruleId = param(request, 'rule_id');
        if (!registry.exclusions(siteId).some((rule) => rule.ruleId === ruleId)) return notFound('exclusion rule');
        await registry.removeExclusion(siteId, ruleId);
        return ok({ rule_id: ruleId, removed: true });
      }),
  });
}

function isSought(type: ExclusionType, value: string): boolean {
  if (type === 'user_agent') return true;
  return (type === 'path' || type === 'hostname') && /\*./.test(value);
}

const NO_DROPS: RuleDrops = new Map();

/** `drops`: undefined while the analytics store can't be asked. */
function ruleView(rule: ExclusionRule, drops: RuleDrops | undefined): object {
  const { ruleId, siteId, type, value, createdAt } = rule;
  const counted = drops?.get(ruleId);
  return {
    rule_id: ruleId,
    site_id: siteId,
    type,
    value,
    created_at: timeText(createdAt),
    dropped: drops === undefined ? null : (counted?.hits ?? 0),
    last_dropped_at: counted === undefined ? null : timeText(counted.lastMinuteMs),
  };
}
