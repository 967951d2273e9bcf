import { compileExclusions, type ExclusionSubject } from '../../src/exclusion/exclusion.ts';
import { compileGlob } from '../../src/exclusion/exclusion-globs.ts';
import { exclusionValueProblem } from '../../src/exclusion/exclusion-value.ts';
import type { ExclusionRule, ExclusionType } from '../../src/registry/site.ts';

const NO_MATCH: ExclusionSubject = {
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
  ])('%s contains %s: %s', (value, ip, expected) => {
    expect(compileExclusions([rule('ip', value)])?.({ ...NO_MATCH, ip })?.value).toBe(expected ? value : undefined);
  });

  test('the matching rule is found among ten thousand rules', () => {
    const rules = Array.from({ length: 10_000 }, (_, i) => rule('ip', `10.${i >> 8}.${i & 255}.0/24`));
    expect(compileExclusions(rules)?.({ ...NO_MATCH, ip: '10.39.15.9' })?.ruleId).toBe('10.39.15.0/24');
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
  ])('%s matches %s: %s', (glob, path, expected) => {
    expect(compileGlob(glob)(path)).toBe(expected);
  });

  test('a path that would be expensive for a RegExp is matched quickly', () => {
    expect(compileGlob(`${'*a'.repeat(30)}*b`)(`${'a'.repeat(4096)}`)).toBe(false);
  });
});

test('without rules there is no matcher', () => {
  expect(compileExclusions([])).toBeUndefined();
});

test('an empty value is not excluded by any rule', () => {
  const rules = (['hostname', 'country', 'visitor'] as const).map((type) => rule(type, 'x'));
  expect(compileExclusions(rules)?.({ ...NO_MATCH, hostname: '' })).toBeUndefined();
});

describe('if several rules of one type match, the most specific one is counted', () => {
  test.each([
    ['path', ['/a/*', '*', '/a/b/*', '/a/b/c'], { pathname: '/a/b/c' }, '/a/b/c'],
    ['path', ['/a/*', '*', '/a/b/*', '/a/b/c'], { pathname: '/a/b/d' }, '/a/b/*'],
    ['path', ['/a/*', '*', '/a/b/*'], { pathname: '/' }, '*'],
    ['path', ['*/edit', '/a/*'], { pathname: '/b/edit' }, '*/edit'],
    ['ip', ['10.0.0.0/8', '10.1.0.0/16'], { ip: '10.1.2.3' }, '10.1.0.0/16'],
    ['hostname', ['*.example.com', 'A.example.com'], { hostname: 'a.EXAMPLE.com' }, 'A.example.com'],
    ['hostname', ['*.example.com'], { hostname: 'b.example.com' }, '*.example.com'],
    ['hostname', ['*.example.com'], { hostname: 'example.com' }, undefined],
    ['hostname', ['*.例え.jp', 'example.com'], { hostname: 'a.xn--r8jz45g.jp' }, '*.例え.jp'],
    ['hostname', ['münchen.de'], { hostname: 'München.de' }, 'münchen.de'],
    ['hostname', ['example.com'], { hostname: 'example.com.' }, 'example.com'],
    ['path', ['/ä/*', '/b c'], { pathname: '/%C3%A4/x' }, '/ä/*'],
    ['path', ['/%C3%A4/*'], { pathname: '/ä/x' }, '/%C3%A4/*'],
    ['path', ['/b c'], { pathname: '/b%20c' }, '/b c'],
    ['path', ['/admin*'], { pathname: '/%61dmin/x' }, '/admin*'],
    ['path', ['/%zz*'], { pathname: '/%zz/%C3%A4' }, '/%zz*'],
    ['path', ['/a/*'], { pathname: '/a%2Fb' }, undefined],
    ['user_agent', ['Chrome', 'Firefox'], { userAgent: 'Mozilla/5.0 firefox/130' }, 'Firefox'],
  ] as const)('%s %j: %j', (type, values, subject, expected) => {
    const matches = compileExclusions(values.map((value) => rule(type, value)));
    const found = () => matches?.({ ...NO_MATCH, ...subject })?.value;
    expect([found(), found()]).toEqual([expected, expected]);
  });
});

test('if two rules match the same hits, the first one is counted', () => {
  for (const [type, subject] of [
    ['ip', { ip: '10.0.0.1' }],
    ['path', { pathname: '10.0.0.1' }],
    ['hostname', { hostname: '10.0.0.1' }],
    ['country', { country: '10.0.0.1' }],
    ['visitor', { visitorId: '10.0.0.1' }],
    ['user_agent', { userAgent: '10.0.0.1' }],
  ] as const) {
    const matches = compileExclusions(['one', 'two'].map((ruleId) => rule(type, '10.0.0.1', ruleId)));
    expect(matches?.({ ...NO_MATCH, ...subject })?.ruleId).toBe('one');
  }
});

test.each([
  ['ip', '300.1.1.1', 'value of a rule of type ip must be an IP address or a CIDR such as 192.0.2.0/24'],
  ['ip', '192.0.2.0/33', expect.stringContaining('must be an IP address or a CIDR')],
  ['ip', '::ffff:192.0.2.0/95', expect.stringContaining('must be an IP address or a CIDR')],
  ['ip', ' 192.0.2.1', expect.stringContaining('must be an IP address or a CIDR')],
  ['country', 'Germany', expect.stringContaining('alpha-2')],
  ['path', ' ', expect.stringContaining('begins with / or *')],
  ['path', `/${'x'.repeat(1024)}`, 'value must be at most 1024 chars'],
  ['path', '/a\nb', expect.stringContaining('begins with / or *')],
  ['path', '/sp ace/*', undefined],
  ['visitor', '', 'value is required'],
  ['bots', 'no', 'value of a bots rule must be left out'],
  ['bots', '', undefined],
  ['bots', '*', undefined],
  ['ip', '2001:db8::/32', undefined],
] as const)('a rule of type %s with the value "%s": %s', (type, value, problem) => {
  expect(exclusionValueProblem(type, value)).toEqual(problem);
});
