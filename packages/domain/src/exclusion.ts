import { compileAddressRules } from './exclusion-addresses.ts';
import { compilePathGlob } from './exclusion-path.ts';
import { parseNetwork } from './network.ts';
import type { DropReason } from './outcome.ts';
import type { ExclusionRule, ExclusionType } from './site.ts';

/** What exclusion rules look at (decisions.md, Exclusion rules). Empty text: not known. */
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

/** One matcher for all rules of a site; undefined where it has none. Types are asked in the spec's order. */
export function compileExclusions(rules: readonly ExclusionRule[]): ExclusionMatcher | undefined {
  if (rules.length === 0) return undefined;
  const of = (type: ExclusionType) => rules.filter((rule) => rule.type === type);
  const byText = (type: ExclusionType, key: (value: string) => string) =>
    new Map(of(type).map((rule) => [key(rule.value.trim()), rule]));

  const address = compileAddressRules(of('ip'));
  const paths = of('path').map((rule) => ({ rule, matches: compilePathGlob(rule.value) }));
  const hostnames = byText('hostname', lower);
  const countries = byText('country', (value) => value.toUpperCase());
  const agents = of('user_agent').map((rule) => ({ rule, part: lower(rule.value) }));
  const visitors = new Map(of('visitor').map((rule) => [rule.value, rule]));
  const bots = of('bots')[0];

  return (subject) => {
    const excluding =
      address(subject.ip) ??
      paths.find((path) => path.matches(subject.pathname))?.rule ??
      hostnames.get(lower(subject.hostname)) ??
      countries.get(subject.country);
    if (excluding !== undefined) return excluding;
    if (agents.length > 0) {
      const agent = lower(subject.userAgent);
      const found = agents.find(({ part }) => agent.includes(part));
      if (found !== undefined) return found.rule;
    }
    return visitors.get(subject.visitorId) ?? (subject.bot === '' ? undefined : bots);
  };
}

const VALUE_CHARS_MAX = 1024;

/** What is wrong with a rule that someone wants to add; undefined where nothing is. */
export function brokenExclusion(type: ExclusionType, value: string): string | undefined {
  if (type === 'bots') return undefined;
  if (value.trim() === '') return 'value must not be empty';
  if ([...value].length > VALUE_CHARS_MAX) return `value must be at most ${VALUE_CHARS_MAX} chars`;
  if (type === 'ip' && parseNetwork(value) === undefined) return 'value must be an IPv4 or IPv6 address or CIDR';
  if (type === 'country' && !/^[A-Za-z]{2}$/.test(value.trim())) return 'value must be an ISO 3166-1 alpha-2 code';
  return undefined;
}

function lower(text: string): string {
  return text.toLowerCase();
}
