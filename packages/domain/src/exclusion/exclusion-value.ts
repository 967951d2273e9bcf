import { COUNTRY_CODES, COUNTRY_CODES_MEANT } from '../country-codes.ts';
import { parseNetwork } from '../net/network.ts';
import type { ExclusionType } from '../registry/site.ts';

const VALUE_CHARS_MAX = 1024;

/** Returns what is wrong with the value of an exclusion rule (docs/api.md, Exclusion rules); `undefined` if it is valid. */
export function exclusionValueProblem(type: ExclusionType, value: string): string | undefined {
  if (type === 'bots') return ALL_BOTS.test(value) ? undefined : 'value of a bots rule must be left out';
  if (value === '') return 'value is required';
  if ([...value].length > VALUE_CHARS_MAX) return `value must be at most ${VALUE_CHARS_MAX} chars`;
  if (RULES[type].test(value)) return undefined;
  return `value of a rule of type ${type} must be ${RULES[type].what}${type === 'country' ? countryHint(value) : ''}`;
}

/** Values that mean all bots. A rule of type `bots` cannot have another value. */
const ALL_BOTS = /^(|\*|all|true)$/i;

const RULES: Readonly<Record<Exclude<ExclusionType, 'bots'>, { test(value: string): boolean; readonly what: string }>> =
  {
    ip: {
      test: (value) => !/\s/.test(value) && parseNetwork(value) !== undefined,
      what: 'an IP address or a CIDR such as 192.0.2.0/24',
    },
    path: {
      test: (value) => /^[/*]\P{Cc}*$/u.test(value),
      what: 'a glob that begins with / or *, such as /admin/*',
    },
    hostname: {
      test: (value) => /^[\p{L}\p{N}._*-]{1,253}$/u.test(value),
      what: 'a host name such as staging.example.com, or *.example.com',
    },
    country: {
      test: (value) => COUNTRY_CODES.has(value.toUpperCase()),
      what: 'an ISO 3166-1 alpha-2 code such as DE',
    },
    user_agent: { test: (value) => value.trim() !== '', what: 'a text that the user agent contains' },
    visitor: { test: (value) => [...value].length <= 64, what: 'a visitor ID of at most 64 chars' },
  };

function countryHint(value: string): string {
  const meant = COUNTRY_CODES_MEANT.get(value.toUpperCase());
  return meant === undefined ? '' : `; for ${value.toUpperCase()} use ${meant}`;
}
