import type { DropReason } from '../records/outcome.ts';
import type { ExclusionRule, ExclusionType } from '../registry/site.ts';
import { compileAddressRules } from './exclusion-addresses.ts';
import { compileGlobs, keepFirst, memoised } from './exclusion-globs.ts';
import { spellHostname, spellPath } from './exclusion-spelling.ts';

/** The fields of a hit that exclusion rules are compared with (docs/api.md, Exclusion rules). An empty text is an unknown value. */
export interface ExclusionSubject {
  readonly ip: string;
  readonly pathname: string;
  readonly hostname: string;
  readonly country: string;
  readonly userAgent: string;
  readonly visitorId: string;
  readonly bot: string;
}

export type ExclusionMatcher = (subject: ExclusionSubject) => ExclusionRule | undefined;

export function excludedBy(rule: ExclusionRule): DropReason {
  return `excluded_${rule.type}`;
}

/**
 * Compiles all rules of a site into one function; `undefined` if the site has no rules. The types are compared in the order of
 * docs/operations.md. If several rules of one type match, the function returns only one, and only this one is counted: the smallest network, the
 * exact value, the longest prefix (`/admin/*`), or else the first rule.
 */
export function compileExclusions(rules: readonly ExclusionRule[]): ExclusionMatcher | undefined {
  if (rules.length === 0) return undefined;
  const of = (type: ExclusionType) => rules.filter((rule) => rule.type === type);
  const byText = (type: ExclusionType, spell: (value: string) => string): ReadonlyMap<string, ExclusionRule> => {
    const map = new Map<string, ExclusionRule>();
    for (const rule of of(type)) keepFirst(map, spell(rule.value), rule);
    return map;
  };

  const address = compileAddressRules(of('ip'));
  const paths = compileGlobs(of('path'), spellPath);
  const path = memoised((pathname) => paths(spellPath(pathname)));
  const hostnames = compileGlobs(of('hostname'), spellHostname);
  const hostname = memoised((host) => hostnames(spellHostname(host)));
  const countries = byText('country', (value) => value.trim().toUpperCase());
  const agents = of('user_agent').map((rule) => ({ rule, part: lower(rule.value) }));
  const agent = memoised((userAgent) => {
    const spelled = lower(userAgent);
    return agents.find(({ part }) => spelled.includes(part))?.rule;
  });
  const visitors = byText('visitor', (value) => value);
  const bots = of('bots')[0];

  return (subject) =>
    address(subject.ip) ??
    path(subject.pathname) ??
    hostname(subject.hostname) ??
    countries.get(subject.country) ??
    (agents.length === 0 ? undefined : agent(subject.userAgent)) ??
    visitors.get(subject.visitorId) ??
    (subject.bot === '' ? undefined : bots);
}

function lower(text: string): string {
  return text.trim().toLowerCase();
}
