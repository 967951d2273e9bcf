import fc from 'fast-check';
import { UAParser } from 'ua-parser-js';
import { COMMON_BROWSERS, COMMON_DEVICES } from '../../src/user-agent/common-user-agents.ts';

const number = fc.integer({ min: 0, max: 99_999 });
const version = fc.array(number, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
const twoParts = fc.tuple(fc.integer({ min: 0, max: 199 }), fc.integer({ min: 0, max: 99 })).map((of) => of.join('.'));
const bits = fc.constantFrom('', '; Win64; x64', '; WOW64', '; Win64', '; x64');
const system = fc.oneof(
  fc.tuple(twoParts, bits).map(([nt, wow]) => `Windows NT ${nt}${wow}`),
  fc.constantFrom(
    'X11; Linux x86_64',
    'X11; Ubuntu; Linux i686',
    'X11; CrOS x86_64',
    'Linux; Android 10; K',
    'Linux; Android 10; KF',
  ),
  fc.constantFrom(
    'Macintosh; Intel Mac OS X 10_15_7',
    'iPhone; CPU iPhone OS 17_5 like Mac OS X',
    'iPad; CPU OS 17_5 like Mac OS X',
    'Linux; Android 9; SM-G960F',
  ),
);
const engine = fc.oneof(
  fc
    .tuple(
      version,
      fc.constantFrom('', ' Mobile'),
      fc.constantFrom('', ' Edg/', ' EdgA/', ' OPR/', ' Vivaldi/'),
      version,
    )
    .map(
      ([chrome, mobile, name, own]) =>
        `AppleWebKit/${chrome} (KHTML, like Gecko) Chrome/${chrome}${mobile} Safari/${chrome}${name}${name === '' ? '' : own}`,
    ),
  fc.tuple(number, twoParts).map(([gecko, firefox]) => `Gecko/${gecko} Firefox/${firefox}`),
  fc
    .tuple(version, fc.constantFrom('', ' Mobile/15E148'))
    .map(([safari, mobile]) => `AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${safari}${mobile} Safari/604.1`),
);
const agents = fc
  .tuple(system, fc.constantFrom('', '', '; rv:128.0'), engine, fc.constantFrom('', '', '', ' ', ' SM-T500 Build', 'x'))
  .map(([of, rv, by, rest]) => `Mozilla/5.0 (${of}${rv}) ${by}${rest}`);

test.each([
  ['device', COMMON_DEVICES, (parser: UAParser) => parser.getDevice()],
  ['browser', COMMON_BROWSERS, (parser: UAParser) => parser.getBrowser()],
])('the common patterns give the same %s as the patterns of ua-parser-js', (kind, common, read) => {
  const parser = new UAParser({ [kind]: common });
  const patterns = common.flat().filter((one) => one instanceof RegExp);
  const matched = patterns.map(() => 0);
  fc.assert(
    fc.property(agents, (userAgent) => {
      const which = patterns.findIndex((pattern) => pattern.test(userAgent));
      if (which >= 0) matched[which] = (matched[which] ?? 0) + 1;
      expect(read(parser.setUA(userAgent))).toEqual(read(new UAParser(userAgent)));
    }),
    { numRuns: 10_000 },
  );
  expect(Math.min(...matched)).toBeGreaterThan(0);
});
