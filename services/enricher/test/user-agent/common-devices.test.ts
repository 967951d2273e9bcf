import fc from 'fast-check';
import { UAParser } from 'ua-parser-js';
import { COMMON_DEVICES } from '../../src/user-agent/common-devices.ts';

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
);
const agents = fc
  .tuple(system, fc.constantFrom('', '; rv:128.0'), engine, fc.constantFrom('', ' ', ' SM-T500 Build', 'x'))
  .map(([of, rv, by, rest]) => `Mozilla/5.0 (${of}${rv}) ${by}${rest}`);

test('the common patterns give the same device as the patterns of ua-parser-js', () => {
  const parser = new UAParser({ device: COMMON_DEVICES });
  const patterns = COMMON_DEVICES.flat().filter((one) => one instanceof RegExp);
  let matched = 0;
  fc.assert(
    fc.property(agents, (userAgent) => {
      if (patterns.some((pattern) => pattern.test(userAgent))) matched += 1;
      expect(parser.setUA(userAgent).getDevice()).toEqual(new UAParser(userAgent).getDevice());
    }),
    { numRuns: 5000 },
  );
  expect(matched).toBeGreaterThan(100);
});
