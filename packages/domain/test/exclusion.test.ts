import { brokenExclusion, compileExclusions, type ExclusionSubject } from '../src/exclusion.ts';
import { compilePathGlob } from '../src/exclusion-path.ts';
import type { ExclusionRule, ExclusionType } from '../src/site.ts';

const NOBODY: ExclusionSubject = {
  ip: '',
  pathname: '/',
  hostname: 'example.com',
  country: '',
  userAgent: '',
  visitorId: '',
  bot: '',
};
const rule = (type: ExclusionType, value: string, ruleId = value): ExclusionRule => ({
  ruleId,
  siteId: 's',
  type,
  value,
  createdAt: 0,
});

describe('Exclusion rules: `ip` (address or CIDR)', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.77/24', '192.0.2.1', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:DB8:0:0::1', '2001:db8::1', true],
    ['::ffff:192.0.2.0/120', '192.0.2.9', true],
    ['192.0.2.0/24', '', false],
  ])('%s holds %s: %s', (value, ip, expected) => {
    expect(compileExclusions([rule('ip', value)])?.({ ...NOBODY, ip })?.value).toBe(expected ? value : undefined);
  });

  test('the rule that holds is found among ten thousand', () => {
    const rules = Array.from({ length: 10_000 }, (_, i) => rule('ip', `10.${i >> 8}.${i & 255}.0/24`));
    expect(compileExclusions(rules)?.({ ...NOBODY, ip: '10.39.15.9' })?.ruleId).toBe('10.39.15.0/24');
  });
});

describe('Exclusion rules: `path` (glob; `*` stands for any characters, `/` included)', () => {
  test.each([
    ['/admin/*', '/admin/', true],
    ['/admin/*', '/admin/a/b', true],
    ['/admin/*', '/admin', false],
    ['*/edit', '/a/b/edit', true],
    ['/a*c*e', '/abcde', true],
    ['/a*c*e', '/abcd', false],
    ['/ab*ab', '/ab', false],
    ['*', '', true],
    ['/a.b', '/axb', false],
    ['/exact', '/exact/', false],
  ])('%s on %s: %s', (glob, path, expected) => {
    expect(compilePathGlob(glob)(path)).toBe(expected);
  });

  test('a hostile path costs no more than reading it', () => {
    expect(compilePathGlob(`${'*a'.repeat(30)}*b`)(`${'a'.repeat(4096)}`)).toBe(false);
  });
});

test('no rules, no matcher', () => {
  expect(compileExclusions([])).toBeUndefined();
});

test('what is empty is excluded by no rule', () => {
  const rules = (['hostname', 'country', 'visitor'] as const).map((type) => rule(type, 'x'));
  expect(compileExclusions(rules)?.({ ...NOBODY, hostname: '' })).toBeUndefined();
});

test.each([
  ['ip', '300.1.1.1', 'value must be an IPv4 or IPv6 address or CIDR'],
  ['ip', '192.0.2.0/33', 'value must be an IPv4 or IPv6 address or CIDR'],
  ['country', 'Germany', 'value must be an ISO 3166-1 alpha-2 code'],
  ['path', ' ', 'value must not be empty'],
  ['path', 'x'.repeat(1025), 'value must be at most 1024 chars'],
  ['bots', '', undefined],
  ['ip', '2001:db8::/32', undefined],
] as const)('a rule %s "%s": %s', (type, value, problem) => {
  expect(brokenExclusion(type, value)).toBe(problem);
});
