import { ruleIdentity, spellRuleValue } from '@weir/domain/exclusion/exclusion-spelling';
import { exclusionValueProblem } from '@weir/domain/exclusion/exclusion-value';
import type { ExclusionRule, ExclusionType } from '@weir/domain/registry/site';
import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { conflict, created, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { randomId } from '../registry/random-id.ts';
import { countRuleDrops, type RuleDrops } from './rule-drops.ts';

const RULES_PER_SITE_MAX = 10_000;
/**
 * The limit for rules that Weir compares with each hit one by one: user agents, and globs with a `*` before their end. Weir finds all other rules
 * by look-ups, whose cost hardly grows with the number of rules.
 */
const SEARCHED_RULES_PER_SITE_MAX = 1000;

interface NewRule {
  readonly type: ExclusionType;
  readonly value?: string;
}

export async function listExclusions(
  { registry, tables }: AdminDeps,
  { site: { siteId } }: SiteRequest,
): Promise<Reply> {
  const rules = registry.exclusions(siteId);
  const drops = rules.length === 0 ? NO_DROPS : await countRuleDrops(tables, siteId);
  return ok(rules.map((rule) => ruleView(rule, drops)));
}

export function createExclusion(deps: AdminDeps, request: AdminRequest<NewRule>): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async ({ siteId }, { type, value = '' }) => {
    const problem = exclusionValueProblem(type, value);
    if (problem !== undefined) return invalid(problem);
    const spelled = spellRuleValue(type, value);
    const full = limitProblem(registry.exclusions(siteId), type, spelled);
    if (full !== undefined) return conflict(full);
    const ruleId = randomId('rule', randomBytes);
    const rule: ExclusionRule = { ruleId, siteId, type, value: spelled, createdAt: clock() };
    await registry.putExclusion(rule);
    return created(ruleView(rule, NO_DROPS));
  });
}

export function removeExclusion({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', rule_id: ruleId = '' } = params;
    if (!registry.exclusions(siteId).some((rule) => rule.ruleId === ruleId)) return notFound('exclusion rule');
    await registry.removeExclusion(siteId, ruleId);
    return ok({ rule_id: ruleId, removed: true });
  });
}

/** Returns the reason why this rule cannot be added to the site. Undefined if it can be added. */
function limitProblem(rules: readonly ExclusionRule[], type: ExclusionType, value: string): string | undefined {
  const identity = ruleIdentity(type, value);
  const same = rules.find((rule) => rule.type === type && ruleIdentity(type, rule.value) === identity);
  if (same !== undefined) return `the site has this rule already: ${same.ruleId}, ${type} ${same.value}`.trimEnd();
  if (rules.length >= RULES_PER_SITE_MAX) return `the site has ${RULES_PER_SITE_MAX} rules, the most there can be`;
  if (!isSearched(type, value)) return undefined;
  if (rules.filter((rule) => isSearched(rule.type, rule.value)).length < SEARCHED_RULES_PER_SITE_MAX) return undefined;
  return `the site has ${SEARCHED_RULES_PER_SITE_MAX} rules of user agents and of globs with a * before their end, the most there can be`;
}

function isSearched(type: ExclusionType, value: string): boolean {
  if (type === 'user_agent') return true;
  return (type === 'path' || type === 'hostname') && /\*./.test(value);
}

const NO_DROPS: RuleDrops = new Map();

/** `drops` is undefined while ClickHouse is unavailable. */
function ruleView(rule: ExclusionRule, drops: RuleDrops | undefined): object {
  const { ruleId, siteId, type, value, createdAt } = rule;
  const counted = drops?.get(ruleId);
  return {
    rule_id: ruleId,
    site_id: siteId,
    type,
    value,
    created_at: formatTime(createdAt),
    dropped: drops === undefined ? null : (counted?.hits ?? 0),
    // Drops are counted per minute. If the rule was added within this minute, the minute began before `created_at`, and no hit was dropped then.
    last_dropped_at: counted === undefined ? null : formatTime(Math.max(counted.lastMinuteMs, createdAt)),
  };
}
