import { useOpened } from '@weir/testkit/use-opened';
import { handheldOf, macintoshClaim } from '../../src/user-agent/apple-handheld.ts';
import { openEnrichHarness, pageview } from '../pipeline/enrich-harness.ts';

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const SAFARI = `${MAC} Version/17.5 Safari/605.1.15`;

describe('iPadOS with the user agent of a Macintosh', () => {
  test.each([
    ['a browser that is on iOS alone', `${MAC} CriOS/125 Version/11.1.1 Safari/605.1.15`, 'sure'],
    ['Firefox of iOS', `${MAC} FxiOS/126.0 Safari/605.1.15`, 'sure'],
    ['a web view', `${MAC} Mobile/15E148`, 'sure'],
    ['Safari', SAFARI, 'maybe'],
    ['DuckDuckGo', `${SAFARI} Ddg/17.5`, 'maybe'],
    [
      'Chrome of a Mac',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36',
      undefined,
    ],
    [
      'Firefox of a Mac',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:126.0) Gecko/20100101 Firefox/126.0',
      undefined,
    ],
    ['Windows', 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/605.1.15', undefined],
  ])('%s', (_, userAgent, claim) => {
    expect(macintoshClaim(userAgent)).toBe(claim);
  });

  test.each([
    [744, 1133, 'iPad'],
    [768, 1024, 'iPad'],
    [810, 1080, 'iPad'],
    [820, 1180, 'iPad'],
    [834, 1112, 'iPad'],
    [834, 1194, 'iPad'],
    [834, 1210, 'iPad'],
    [1024, 1366, 'iPad'],
    [1032, 1376, 'iPad'],
    [390, 844, 'iPhone'],
    [440, 956, 'iPhone'],
    [1440, 900, undefined],
    [1470, 956, undefined],
    [1024, 768, undefined],
    // Monitors in portrait.
    [1080, 1920, undefined],
    [1200, 1920, undefined],
    [1050, 1680, undefined],
    [1200, 1600, undefined],
    [1440, 2560, undefined],
    [0, 0, undefined],
    [820, 0, undefined],
  ])('a screen of %d x %d', (width, height, handheld) => {
    expect(handheldOf(width, height)).toBe(handheld);
  });
});

describe('in the row', () => {
  const harness = useOpened(openEnrichHarness);

  test('the screen of each hit decides', async () => {
    const hit = (userAgent: string, width?: number, height?: number) => ({
      userAgent,
      body: pageview(width === undefined ? {} : { screen_width: width, screen_height: height ?? 0 }),
    });
    const rows = await harness.enrich(
      hit(SAFARI, 820, 1180),
      hit(SAFARI, 1470, 956),
      hit(SAFARI),
      hit(SAFARI, 402, 874),
      hit(SAFARI, 820, 1180),
      hit(`${MAC} CriOS/125 Version/11.1.1 Safari/605.1.15`),
    );
    expect(rows.map((row) => [row.browser, row.os, row.os_version, row.device_type, row.device_model])).toEqual([
      ['Safari', 'iOS', '17.5', 'tablet', 'iPad'],
      ['Safari', 'macOS', '10.15.7', 'desktop', 'Macintosh'],
      ['Safari', 'macOS', '10.15.7', 'desktop', 'Macintosh'],
      ['Safari', 'iOS', '17.5', 'mobile', 'iPhone'],
      ['Safari', 'iOS', '17.5', 'tablet', 'iPad'],
      ['Chrome', 'iOS', '', 'tablet', 'iPad'],
    ]);
  });
});
