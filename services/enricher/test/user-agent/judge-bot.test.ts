import { useOpened } from '@weir/testkit/use-opened';
import { judgeBot } from '../../src/user-agent/judge-bot.ts';
import { CHROME, openEnrichHarness, pageview } from '../pipeline/enrich-harness.ts';

const compatible = (name: string) => `Mozilla/5.0 (compatible; ${name}; +https://example.org/bot)`;

describe('bots: isbot, AI crawlers, an empty user agent and headless browsers, each with a reason', () => {
  test.each([
    ['', 'No user agent', 'no_user_agent'],
    ['-', 'No user agent', 'no_user_agent'],
    [compatible('GPTBot/1.2'), 'GPTBot', 'ai_crawler'],
    [compatible('OAI-AdsBot/1.0'), 'OAI-AdsBot', 'ai_crawler'],
    [compatible('xAI-Bot/1.0'), 'Grok', 'ai_crawler'],
    [compatible('ChatGLM-Spider/1.0'), 'ChatGLM-Spider', 'ai_crawler'],
    [compatible('TavilyBot/1.0'), 'TavilyBot', 'ai_crawler'],
    ['amazon-kendra-customer-id-1', 'Amazon Kendra', 'ai_crawler'],
    ['Feedly/1.0 (+https://feedly.com/fetcher.html; 12 subscribers; like FeedFetcher-Google)', 'Feedly', 'known_bot'],
    ['HetrixTools Uptime Monitoring Bot. https://hetrix.tools/bot.html', 'HetrixTools', 'known_bot'],
    ['Server Density Service Monitoring v2', 'Server Density Service Monitoring v2', 'bot_pattern'],
    [CHROME.replace('Chrome/', 'HeadlessEdg/'), 'Headless Edge', 'headless_browser'],
    [compatible('OAI-SearchBot/1.0'), 'OAI-SearchBot', 'ai_crawler'],
    ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0', 'ChatGPT-User', 'ai_crawler'],
    [compatible('ClaudeBot/1.0'), 'ClaudeBot', 'ai_crawler'],
    [compatible('PerplexityBot/1.0'), 'PerplexityBot', 'ai_crawler'],
    [compatible('Bytespider'), 'Bytespider', 'ai_crawler'],
    ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'CCBot', 'ai_crawler'],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Google-Agent; +https://developers.google.com/crawling/docs/crawlers-fetchers/google-agent) Chrome/131.0.0.0 Safari/537.36',
      'Google-Agent',
      'ai_crawler',
    ],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/132.0.0.0 Safari/537.36 (compatible; Manus-User/1.0)',
      'Manus-User',
      'ai_crawler',
    ],
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
    ['node', 'Node.js', 'http_library'],
    ['NodePing', 'NodePing', 'bot_pattern'],
    ['Java-http-client/21.0.2', 'Java', 'http_library'],
    ['http.rb/5.3.1', 'Ruby', 'http_library'],
    ['Symfony HttpClient/Curl', 'PHP', 'http_library'],
    ['Deno/2.3.5', 'Deno', 'http_library'],
    ['Bun/1.2.15', 'Bun', 'http_library'],
    ['Dart/3.4 (dart:io)', 'Dart', 'http_library'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.3',
      'PowerShell',
      'http_library',
    ],
    ['TelegramBot (like TwitterBot)', 'TelegramBot', 'known_bot'],
    ['Mastodon/4.2.9 (http.rb/5.1.1; +https://mastodon.example/) Bot', 'Mastodon', 'known_bot'],
    ['Mozilla/5.0 (compatible; Uptime-Kuma/1.23.13)', 'Uptime-Kuma', 'bot_pattern'],
    ['NetNewsWire (RSS Reader; https://netnewswire.com/)', 'NetNewsWire', 'bot_pattern'],
    ['SimplePie/1.8.0 (Feed Parser; http://simplepie.org) Build/1700000000', 'SimplePie', 'bot_pattern'],
    ['colly - https://github.com/gocolly/colly/v2', 'colly', 'bot_pattern'],
    [compatible('SputnikBot/2.3'), 'SputnikBot', 'bot_pattern'],
    ['Tiny Tiny RSS/1.11 (http://tt-rss.org/)', 'Tiny Tiny RSS', 'bot_pattern'],
    ['Mozilla/5.0 (compatible; Google-Site-Verification/1.0)', 'Google-Site-Verification', 'bot_pattern'],
    ['Mozilla/5.0 (compatible; CensysInspect/1.1; +https://about.censys.io/)', 'CensysInspect', 'bot_pattern'],
    ['Mozilla/5.0 (compatible; NetcraftSurveyAgent/1.0; +info@netcraft.com)', 'NetcraftSurveyAgent', 'bot_pattern'],
    ['Mozilla/5.0 (compatible; Barkrowler/0.9; +https://babbar.tech/crawler)', 'Barkrowler', 'bot_pattern'],
    [
      "Mozilla/5.0 (compatible; Let's Encrypt validation server; +https://www.letsencrypt.org)",
      "Let's Encrypt validation server",
      'bot_pattern',
    ],
    ['Mozilla/5.0 (compatible; HTTrack 3.0x; Windows 98)', 'HTTrack', 'bot_pattern'],
    [`${CHROME} (compatible; Google-Safety; +http://www.google.com/bot.html)`, 'Google-Safety', 'bot_pattern'],
    [
      'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 5.0) LinkCheck by Siteimprove.com',
      'Siteimprove.com',
      'bot_pattern',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 7_0 like Mac OS X) AppleWebKit/537.51.1 (KHTML, like Gecko) Mobile/11A465 Twitter for iPhone BrandVerity/1.0 (http://www.brandverity.com/why-is-brandverity-visiting-me)',
      'BrandVerity',
      'bot_pattern',
    ],
    ['Mozilla/5.0 zgrab/0.x', 'zgrab', 'bot_pattern'],
    [`${CHROME} Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)`, 'Google', 'bot_pattern'],
    [
      'GoogleProducer; (+https://developers.google.com/search/docs/crawling-indexing/google-producer)',
      'GoogleProducer',
      'bot_pattern',
    ],
    [`https://www.ezoic.com/bot/ ${CHROME}`, 'Unnamed bot', 'bot_pattern'],
  ])('%s: %s, as %s', (userAgent, name, reason) => {
    expect(judgeBot(userAgent, undefined)).toMatchObject({ name, reason });
  });

  test.each([
    ['Mozilla/5.0 (compatible; +http://tweetedtimes.com)', 'Unnamed bot'],
    ['Mozilla/5.0 (compatible; Dataprovider.com)', 'Dataprovider.com'],
    ['Mozilla/5.0 (compatible; seoscanners.net/1; +spider@seoscanners.net)', 'seoscanners.net'],
    ['Mozilla/5.0 (compatible; um-LN/1.0; mailto: techinfo@ubermetrics-technologies.com)', 'um-LN'],
    ['Mozilla/5.0/Firefox/42.0 - nbertaupete95(at)gmail.com', 'Unnamed bot'],
    ['search.example.co.uk', 'search.example.co.uk'],
    ['Mozilla/5.0 (compatible; NerdByNature.Bot; http://www.nerdbynature.net/bot)', 'NerdByNature.Bot'],
    ['MeltwaterNews www.meltwater.com', 'MeltwaterNews'],
    ['scraping@nytimes.com', 'Unnamed bot'],
    [`${CHROME} scan-203.0.113.7`, 'scan-'],
    [compatible(`${'Long'.repeat(20)}/1.0`), 'Long'.repeat(10)],
  ])('the name has no URL, e-mail or IP address and at most 40 characters: %s', (userAgent, name) => {
    expect(judgeBot(userAgent, undefined)).toMatchObject({ name, reason: 'bot_pattern' });
  });

  test('a headless browser is recognised by its brand, even if its user agent hides it', () => {
    const hints = { 'sec-ch-ua': '"HeadlessChrome";v="126", "Chromium";v="126", "Not/A)Brand";v="8"' };
    expect(judgeBot(CHROME, hints)).toMatchObject({ name: 'Headless Chrome', reason: 'headless_browser' });
    expect(judgeBot(CHROME, { 'sec-ch-ua': '"Google Chrome";v="126"' })).toMatchObject({ name: '', reason: '' });
  });

  test.each([
    ['Chrome', CHROME],
    ['Google News', `${CHROME.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 13; SM-A127F')} GoogleNews/5.109`],
    ['a program on Apple TV', 'AppleTV11,1/11.1'],
    ['Internet Explorer', 'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)'],
    ['a browser of Amiga', 'Mozilla/5.0 (compatible; IBrowse 3.0; AmigaOS 4)'],
    ['a Cubot', CHROME.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 13; T99 CUBOT NOTE 50')],
    ['WeChat', `${CHROME} MMWEBID/4064 MicroMessenger/7.0.10.1580(0x27000A34) Process/tools NetType/WIFI`],
    [
      'Taobao',
      `${CHROME.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 14; 2201123C; wv')} AliApp(TB/10.47.10) TTID/600000@taobao_android_10.47.10 WindVane/8.5.0`,
    ],
    [
      'Opera on a television',
      'Mozilla/5.0 (Linux armv7l) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/84.0.4147.140 Safari/537.36 OPR/46.0.2207.0 OMI/4.21.4.112.Catcher4.66 Model/Hisense-MT9602 VIDAA/5.0(Hisense;SmartTV;43A6G;MTK9602/V0000.01.00A;UHD)',
    ],
    ['Facebook without a Mozilla', '[FBAN/FBIOS;FBAV/283.0.0.44.117;FBDV/iPhone12,1;FBSN/iOS;FBSV/13.6.1]'],
    [
      'Google TV',
      'Mozilla/5.0 (Linux; Android 14; Google TV Streamer Build/UTT3.240625.001.K5; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/128.0.6613.114 Mobile Safari/537.36',
    ],
    [
      'a model that is called bot',
      'Mozilla/5.0 (Linux; Android 8.1.0; M bot 60) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/110.0.0.0 Mobile Safari/537.36',
    ],
    [
      'a model that is called Discovery, with a language',
      'Mozilla/5.0 (Linux; U; Android 4.2.2; tr-tr; Discovery II Mini Build/JDQ39) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30',
    ],
    [
      'SmartNews',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 SmartNews/24.5.0',
    ],
    [
      'NewsBreak',
      'Mozilla/5.0 (Linux; Android 9; ZTE Blade A5 2020 Build/PPR1.180610.011; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/102.0.5005.125 Mobile Safari/537.36 newsbreak/19.2.3',
    ],
    [
      'Toutiao',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 15_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 NewsArticle/9.1.9.20 JsSdk/2.0 NetType/WIFI (News 9.1.9 15.100000)',
    ],
    [
      'Tencent News',
      'Mozilla/5.0 (Linux; Android 6.0; zh-cn; HUAWEI MT7-CL00 Build/HuaweiMT7-CL00; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/54.0.2840.68 Mobile Safari/537.36 qqnews/6.3.1 6.3.1.123',
    ],
    [
      'Alipay',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 13_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/17G68 Ariver/1.1.0 AliApp(AP/10.2.30.6000) Nebula WK RVKType(1) AlipayDefined(nt:WIFI,ws:414|672|3.0) AlipayClient/10.2.30.6000 Alipay Language/en Region/CN NebulaX/1.0.0',
    ],
    [
      'Facebook in the network Google Fi',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F90 [FBAN/FBIOS;FBAV/465.0.1.41.103;FBBV/602060281;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBSV/17.5.1;FBSS/3;FBCR/Google Fi;FBID/phone;FBLC/en_US;FBOP/5]',
    ],
    ['a maker in the model', CHROME.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 13; Google Pixel 7')],
  ])('a person: %s', (_, userAgent) => {
    expect(judgeBot(userAgent, undefined)).toMatchObject({ name: '', reason: '' });
  });

  test.each([
    ['Mozilla/5.0 (Linux; Android 11; SputnikBot/2.3) AppleWebKit/537.36', 'SputnikBot'],
    [
      'Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3.170816.012; Storebot-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/81.0.4044.138 Mobile Safari/537.36',
      'Storebot-Google',
    ],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 9_1 like Mac OS X) Mobile/13B143 NewsBot/1.0', 'NewsBot'],
    ['newspaper/0.2.8', 'newspaper'],
  ])('a bot on a phone, or with news in its name: %s', (userAgent, name) => {
    expect(judgeBot(userAgent, undefined)).toMatchObject({ name, reason: 'bot_pattern' });
  });
});

describe('in the row', () => {
  const harness = useOpened(openEnrichHarness);

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
