import { isIP } from 'node:net';
import type { ExclusionType } from '@weir/domain/site';

/** What the value of an exclusion rule must be (decisions.md, Exclusion rules); `undefined` where it is all right. */
export function exclusionValueProblem(type: ExclusionType, value: string): string | undefined {
  if (type === 'bots') return value === '' || value === 'true' ? undefined : 'value of a bots rule must be left out';
  if (value === '') return 'value is required';
  return RULES[type].test(value) ? undefined : `value of a rule of type ${type} must be ${RULES[type].what}`;
}

const RULES: Readonly<Record<Exclude<ExclusionType, 'bots'>, { test(value: string): boolean; readonly what: string }>> =
  {
    ip: { test: isAddressOrCidr, what: 'an IP address or a CIDR such as 192.0.2.0/24' },
    path: {
      test: (value) => /^[/*]/.test(value) && !/\s/.test(value),
      what: 'a glob that begins with / or *, such as /admin/*',
    },
    hostname: {
      test: (value) => /^[\p{L}\p{N}._*-]{1,253}$/u.test(value),
      what: 'a host name such as staging.example.com',
    },
    country: { test: (value) => /^[A-Za-z]{2}$/.test(value), what: 'an ISO 3166-1 alpha-2 code such as DE' },
    user_agent: { test: (value) => value.trim() !== '', what: 'a text that the user agent contains' },
    visitor: { test: (value) => [...value].length <= 64, what: 'a visitor ID of at most 64 chars' },
  };

function isAddressOrCidr(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
