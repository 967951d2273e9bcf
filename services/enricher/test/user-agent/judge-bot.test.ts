import { judgeBot } from '../../src/user-agent/judge-bot.ts';
import { CHROME, type EnrichHarness, openEnrichHarness, pageview } from '../pipeline/enrich-harness.ts';

const compatible = (name: string) => `Mozilla/5.0 (compatible; ${name}; +https://example.org/bot)`;

describe('bots: isbot, AI crawlers, an empty user agent and headless browsers, each with a reason', () => {
  test.each([
    ['', 'No user agent', 'no_user_agent'],
    ['-', 'No user agent', 'no_user_agent'],
    [compatible('GPTBot/1.2'), 'GPTBot', 'ai_crawler'],
    [compatible('OAI-SearchBot/1.0'), 'OAI-SearchBot', 'ai_crawler'],
    ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0', 'ChatGPT-User', 'ai_crawler'],
    [compatible('ClaudeBot/1.0'), 'ClaudeBot', 'ai_crawler'],
    [compatible('PerplexityBot/1.0'), 'PerplexityBot', 'ai_crawler'],
    [compatible('Bytespider'), 'Bytespider', 'ai_crawler'],
    ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'CCBot', 'ai_crawler'],
    [compatible('Google-Extended'), 'Google-Extended', 'ai_crawler'],
    [compatible('Amazonbot/0.1'), 'Amazonbot', 'ai_crawler'],
    [
      'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
      'Meta-ExternalAgent',
      'ai_crawler',
    ],
    [compatible('Applebot-Extended/0.1'), 'Applebot-Extended', 'ai_crawler'],
    [compatible('Applebot/0.1'), 'Applebot', 'known_bot'],
    [compatible('Googlebot/2.1'), 'Googlebot', 'known_bot'],
    [CHROME.replace('Chrome/', 'HeadlessChrome/'), 'Headless Chrome', 'headless_browser'],
    [`${CHROME} Puppeteer`, 'Puppeteer', 'headless_browser'],
    [`${CHROME} GTmetrix`, 'GTmetrix', 'headless_browser'],
    [
      'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1',
      'PhantomJS',
      'headless_browser',
    ],
    ['curl/8.5.0', 'curl', 'http_library'],
    ['python-requests/2.31', 'Python', 'http_library'],
    ['Go-http-client/2.0', 'Go', 'http_library'],
    ['okhttp/4.12.0', 'Java', 'http_library'],
    ['axios/1.7.2', 'Node.js', 'http_library'],
    [compatible('SputnikBot/2.3'), 'SputnikBot', 'bot_pattern'],
    ['Tiny Tiny RSS/1.11 (http://tt-rss.org/)', 'Tiny Tiny RSS', 'bot_pattern'],
  ])('%s: %s, as %s', (userAgent, name, reason) => {
    expect(judgeBot(userAgent, undefined)).toMatchObject({ name, reason });
  });

  test('a headless browser is recognised by its brand, even if its user agent hides it', () => {
    const hints = { 'sec-ch-ua': '"HeadlessChrome";v="126", "Chromium";v="126", "Not/A)Brand";v="8"' };
    expect(judgeBot(CHROME, hints)).toMatchObject({ name: 'Headless Chrome', reason: 'headless_browser' });
    expect(judgeBot(CHROME, { 'sec-ch-ua': '"Google Chrome";v="126"' })).toMatchObject({ name: '', reason: '' });
  });

  test.each([
    ['Chrome', CHROME],
    ['a Cubot', CHROME.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 13; T99 CUBOT NOTE 50')],
    ['WeChat', `${CHROME} MMWEBID/4064 MicroMessenger/7.0.10.1580(0x27000A34) Process/tools NetType/WIFI`],
    ['Facebook without a Mozilla', '[FBAN/FBIOS;FBAV/283.0.0.44.117;FBDV/iPhone12,1;FBSN/iOS;FBSV/13.6.1]'],
    ['a maker in the model', CHROME.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 13; Google Pixel 7')],
  ])('a person: %s', (_, userAgent) => {
    expect(judgeBot(userAgent, undefined)).toMatchObject({ name: '', reason: '' });
  });
});

describe('in the row', () => {
  let harness: EnrichHarness;
  beforeAll(async () => {
    harness = await openEnrichHarness();
  });
  afterAll(() => harness.close());

  test('the row is kept, and has the name and the reason in their columns', async () => {
    const [bot, person] = await harness.enrich(
      { userAgent: compatible('GPTBot/1.2'), body: pageview() },
      { body: pageview() },
    );
    expect(bot).toMatchObject({ outcome: 'row', bot: 'GPTBot', bot_reason: 'ai_crawler', device_type: 'bot' });
    expect(person).toMatchObject({ outcome: 'row', bot: '', bot_reason: '', device_type: 'desktop' });
  });

  test('hits from VPNs and data centres are not dropped', async () => {
    await harness.exclude('bots', 'true');
    const dataCentres = ['8.8.8.8', '1.1.1.1', '52.94.236.248', '185.220.101.1', '2001:4860:4860::8888'];
    const rows = await harness.enrich(...dataCentres.map((ip) => ({ ip, body: pageview() })));
    expect(rows.map((row) => [row.outcome, row.bot])).toEqual(dataCentres.map(() => ['row', '']));
    const [dropped] = await harness.enrich({ userAgent: 'curl/8', body: pageview() });
    expect(dropped).toMatchObject({ outcome: 'dropped', reason: 'excluded_bots', bot: '', bot_reason: '' });
  });
});
