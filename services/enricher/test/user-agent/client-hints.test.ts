import { useOpened } from '@weir/testkit/use-opened';
import { parseUserAgent } from '../../src/user-agent/parse-user-agent.ts';
import { CHROME, openEnrichHarness, pageview } from '../pipeline/enrich-harness.ts';

const ANDROID =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36';
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const LINUX = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const full = (brand: string, version: string) => ({
  'sec-ch-ua-full-version-list': `"Not/A)Brand";v="8.0.0.0", "Chromium";v="126.0.6478.127", "${brand}";v="${version}"`,
});

describe('Client Hints: Windows 11, Android models, brands', () => {
  test.each([
    ['"15.0.0"', '11'],
    ['"13.0.0"', '11'],
    ['"10.0.0"', '10'],
    ['"0.3.0"', '8.1'],
    ['"0.1.0"', '7'],
    ['""', '10'],
  ])('platform version %s of Windows is Windows %s', (version, expected) => {
    expect(parseUserAgent(CHROME, { 'sec-ch-ua-platform-version': version }).osVersion).toBe(expected);
  });

  test.each([
    ['the real macOS', MAC, { 'sec-ch-ua-platform-version': '"14.5.0"' }, { os: 'macOS', osVersion: '14.5' }],
    ['the real Android', ANDROID, { 'sec-ch-ua-platform-version': '"14.0.0"' }, { os: 'Android', osVersion: '14' }],
    [
      "nothing of Linux, whose version is the kernel's",
      LINUX,
      { 'sec-ch-ua-platform-version': '"6.8.0"' },
      { os: 'Linux', osVersion: '' },
    ],
    [
      'a phone',
      ANDROID,
      { 'sec-ch-ua-model': '"Pixel 8"' },
      { deviceBrand: 'Google', deviceModel: 'Pixel 8', deviceType: 'mobile' },
    ],
    [
      'a tablet, known by its model',
      ANDROID,
      { 'sec-ch-ua-model': '"SM-X906B"' },
      { deviceBrand: 'Samsung', deviceType: 'tablet' },
    ],
    [
      'a tablet, known by the name of its model',
      ANDROID.replace(' Mobile', ''),
      { 'sec-ch-ua-model': '"moto tab g70"', 'sec-ch-ua-mobile': '?0' },
      { deviceBrand: 'Motorola', deviceModel: 'moto tab g70', deviceType: 'tablet' },
    ],
    ['no model', ANDROID, { 'sec-ch-ua-model': '""' }, { deviceModel: '', deviceType: 'mobile' }],
    ['a tablet, by its form', ANDROID, { 'sec-ch-ua-form-factors': '"Tablet"' }, { deviceType: 'tablet' }],
    ['a watch', ANDROID, { 'sec-ch-ua-form-factors': '"Mobile", "Watch"' }, { deviceType: 'wearable' }],
    [
      'a Chromebook that says Linux',
      LINUX,
      { 'sec-ch-ua-platform': '"Chrome OS"' },
      { os: 'Chrome OS', deviceType: 'desktop' },
    ],
    [
      'an Android that asks for desktop pages',
      LINUX,
      { 'sec-ch-ua-platform': '"Android"', 'sec-ch-ua-mobile': '?1' },
      { os: 'Android', deviceType: 'mobile' },
    ],
    [
      'a tablet with Android that asks for desktop pages',
      LINUX,
      { 'sec-ch-ua-platform': '"Android"', 'sec-ch-ua-mobile': '?0' },
      { os: 'Android', deviceType: 'tablet' },
    ],
    [
      'a computer with Android',
      LINUX,
      { 'sec-ch-ua-platform': '"Android"', 'sec-ch-ua-mobile': '?0', 'sec-ch-ua-form-factors': '"Desktop"' },
      { os: 'Android', deviceType: 'desktop' },
    ],
    [
      'a television stays one',
      'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/94.0.4606.128 Safari/537.36',
      { 'sec-ch-ua-platform': '"Linux"' },
      { os: 'webOS', deviceType: 'tv' },
    ],
  ])('%s', (_, userAgent, hints, expected) => {
    expect(parseUserAgent(userAgent, hints as Readonly<Record<string, string>>)).toMatchObject(expected);
  });

  test.each([
    [
      'Brave, without the long list',
      { 'sec-ch-ua': '"Chromium";v="126", "Brave";v="126", "Not/A)Brand";v="8"' },
      'Brave',
      '126',
    ],
    ['Brave', full('Brave', '126.1.67.123'), 'Brave', '126.1.67.123'],
    ['Opera GX', full('Opera GX', '111.0.5168.0'), 'Opera GX', '111.0.5168.0'],
    ['DuckDuckGo', full('DuckDuckGo', '126.0.0.0'), 'DuckDuckGo', '126.0.0.0'],
    [
      'Opera on Android, beside the brand and the version of Opera on desktop computers',
      {
        'sec-ch-ua-full-version-list':
          '"Chromium";v="130.0.6723.58", "Opera";v="115.0.5322.68", "OperaMobile";v="86.2.4550.83412"',
      },
      'Opera',
      '86.2.4550.83412',
    ],
    ['Opera on Windows', full('Opera', '115.0.5322.68'), 'Opera', '115.0.5322.68'],
    ['Avast on Android', { 'sec-ch-ua': '"AvastSecureBrowser";v="6.6.0"' }, 'Avast Secure Browser', '6.6.0'],
    ['WebView2', { 'sec-ch-ua': '"Microsoft Edge WebView2";v="130", "Microsoft Edge";v="130"' }, 'Edge', '130'],
    [
      'an app with WebView2',
      { 'sec-ch-ua': '"Microsoft Edge WebView2";v="130", "DuckDuckGo";v="130"' },
      'DuckDuckGo',
      '130',
    ],
    ['a name that each JavaScript object has', { 'sec-ch-ua': '"constructor";v="1"' }, 'constructor', '1'],
    ['Yandex Browser', full('YaBrowser', '24.6.0.0'), 'Yandex Browser', '24.6.0.0'],
    ['Chrome, by all of its version', full('Google Chrome', '126.0.6478.127'), 'Chrome', '126.0.6478.127'],
    ['the made-up brand is none', { 'sec-ch-ua': '"Not;A=Brand";v="99", "Chromium";v="126"' }, 'Chrome', '126.0.0.0'],
    ['an empty long list', { 'sec-ch-ua-full-version-list': '', 'sec-ch-ua': '"Brave";v="126"' }, 'Brave', '126'],
    ['nonsense', { 'sec-ch-ua': '"""";;v=' }, 'Chrome', '126.0.0.0'],
  ])('%s', (_, hints, browser, browserVersion) => {
    expect(parseUserAgent(CHROME, hints as Readonly<Record<string, string>>)).toMatchObject({
      browser,
      browserVersion,
    });
  });

  test.each([
    '"OperaMobile";v="86", ";Not A Brand";v="99", "Opera";v="115", "Chromium";v="130"',
    '"Chromium";v="130", "Opera";v="115", "OperaMobile";v="86"',
  ])('Opera on Android is Opera in any order of the brands: %s', (brands) => {
    expect(parseUserAgent(`${ANDROID} OPR/86.0.0.0`, { 'sec-ch-ua': brands })).toMatchObject({
      browser: 'Opera',
      browserVersion: '86.0.0.0',
    });
  });

  test.each(['constructor', '__proto__', 'Fuchsia'])('the unknown platform %s is ignored', (platform) => {
    expect(parseUserAgent(LINUX, { 'sec-ch-ua-platform': `"${platform}"` }).os).toBe('Linux');
  });

  test('an app in a web view keeps its own name', () => {
    const instagram = `${ANDROID} Instagram 333.0.0.42.91 Android`;
    expect(parseUserAgent(instagram, full('Android WebView', '126.0.6478.122')).browser).toBe('Instagram');
  });
});

describe('in the row', () => {
  const harness = useOpened(openEnrichHarness);

  test('equal user agents with different hints, or without hints, give different columns', async () => {
    const hit = (clientHints?: Readonly<Record<string, string>>) => ({
      body: pageview(),
      ...(clientHints === undefined ? {} : { clientHints }),
    });
    const eleven = { 'sec-ch-ua-platform-version': '"15.0.0"' };
    const rows = await harness.enrich(
      hit(eleven),
      hit(),
      hit({ ...eleven }),
      hit({ 'sec-ch-ua-platform-version': '"10.0.0"' }),
    );
    expect(rows.map((row) => row.os_version)).toEqual(['11', '10', '11', '10']);
  });
});
