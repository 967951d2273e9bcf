import { useOpened } from '@weir/testkit/use-opened';
import { parseUserAgent } from '../../src/user-agent/parse-user-agent.ts';
import { CHROME, NOW, openEnrichHarness, pageview } from '../pipeline/enrich-harness.ts';

const AGENTS = {
  safariMac:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
  safariPhone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  samsung:
    'Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/21.0 Chrome/110.0.5481.154 Mobile Safari/537.36',
  firefoxUbuntu: 'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0',
  edge: `${CHROME} Edg/126.0.0.0`,
  reduced:
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
  tv: 'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36',
  ipad: 'Mozilla/5.0 (iPad; CPU OS 16_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.5 Mobile/15E148 Safari/604.1',
};

describe('put-user-agent: usual names of browsers and systems', () => {
  test.each([
    ['safariMac', { browser: 'Safari', os: 'macOS', deviceType: 'desktop' }],
    [
      'safariPhone',
      { browser: 'Safari', os: 'iOS', deviceType: 'mobile', deviceBrand: 'Apple', deviceModel: 'iPhone' },
    ],
    ['samsung', { browser: 'Samsung Internet', os: 'Android', deviceType: 'mobile', deviceModel: 'SM-S918B' }],
    ['firefoxUbuntu', { browser: 'Firefox', os: 'Linux', deviceType: 'desktop' }],
    ['edge', { browser: 'Edge', os: 'Windows', deviceType: 'desktop' }],
    ['reduced', { browser: 'Chrome', os: 'Android', deviceType: 'mobile', deviceModel: '' }],
    ['tv', { deviceType: 'tv' }],
    ['ipad', { browser: 'Safari', os: 'iOS', deviceType: 'tablet' }],
  ] as const)('%s: %j', (name, expected) => {
    expect(parseUserAgent(AGENTS[name], undefined)).toMatchObject(expected);
  });

  test('a user agent is cut at 512 characters', () => {
    expect(parseUserAgent(`${'x'.repeat(512)}${CHROME}`, undefined).browser).toBe('');
  });
});

describe('whether the user agent belongs to the visitor', () => {
  const harness = useOpened(openEnrichHarness);

  test('in collect hits and imports, curl is a bot, and so is a client without a user agent', async () => {
    const lines = await harness.enrich(
      { userAgent: 'curl/8', body: pageview() },
      { userAgent: '', body: pageview() },
      { userAgent: '', kind: 'import', body: { url: 'https://example.com/', timestamp: NOW } },
    );
    expect(lines.map((line) => [line.bot, line.device_type, line.browser])).toEqual([
      ['curl', 'bot', ''],
      ['No user agent', 'bot', ''],
      ['No user agent', 'bot', ''],
    ]);
  });

  test('the HTTP library of a server event is ignored; a user agent in its context is judged and stored', async () => {
    const event = (context: object, userAgent: string) =>
      ({ kind: 'event', userAgent, body: { name: 'e', context: { ...context } } }) as const;
    const lines = await harness.enrich(
      event({}, 'curl/8'),
      event({}, ''),
      event({}, CHROME),
      event({ user_agent: AGENTS.safariMac }, 'curl/8'),
      event({ user_agent: 'Googlebot/2.1' }, CHROME),
    );
    expect(lines.map((line) => [line.bot, line.browser, line.os])).toEqual([
      ['', '', ''],
      ['', '', ''],
      ['', 'Chrome', 'Windows'],
      ['', 'Safari', 'macOS'],
      ['Googlebot', '', ''],
    ]);
  });

  test('the location of a server event comes from context.ip, or else from the address of the request', async () => {
    const [own, request] = await harness.enrich(
      { kind: 'event', ip: '81.2.69.142', body: { name: 'e', context: { ip: '::ffff:8.8.8.8' } } },
      { kind: 'event', ip: '81.2.69.142', body: { name: 'e' } },
    );
    expect([own?.country, request?.country]).toEqual(['US', 'GB']);
  });
});
