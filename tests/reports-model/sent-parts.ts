// The parts of the generated histories: browsers, networks and links, each with the column values that Weir must store for it. Other tests check
// the enrichment itself.

/** A person's browser, or a bot. */
export interface Agent {
  readonly text: string;
  readonly bot: string;
  readonly values: Readonly<Record<'browser' | 'browser_version' | 'os' | 'os_version' | 'device', string>>;
}
export interface Network {
  readonly ip: string;
  readonly values: Readonly<Record<'country' | 'region' | 'city', string>>;
}
/** The link that led to a page. */
export interface Link {
  readonly query: string;
  readonly referrer: string;
  readonly values: Readonly<Record<string, string>>;
}

const agent = (
  text: string,
  [browser, browser_version, os, os_version, device]: readonly [string, string, string, string, string],
  bot = '',
): Agent => ({ text, bot, values: { browser, browser_version, os, os_version, device } });

export const NO_AGENT = agent('', ['', '', '', '', '']);
export const AGENTS: readonly Agent[] = [
  agent(
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36',
    ['Chrome', '129.0.0.0', 'Windows', '10', 'desktop'],
  ),
  agent('Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', [
    'Firefox',
    '130.0',
    'Linux',
    '',
    'desktop',
  ]),
  agent(
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    ['Safari', '17.5', 'iOS', '17.5', 'mobile'],
  ),
];
/** The reason why `BOT` is a bot. */
export const BOT_REASON = 'known_bot';
export const BOT = agent(
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  ['', '', '', '', 'bot'],
  'Googlebot',
);

const network = (ip: string, [country, region, city]: readonly [string, string, string]): Network => ({
  ip,
  values: { country, region, city },
});
export const NO_NETWORK = network('', ['', '', '']);
export const NETWORKS: readonly Network[] = [
  network('8.8.8.8', ['US', 'US-CA', 'Mountain View']),
  network('194.25.0.60', ['DE', 'DE-HE', 'Darmstadt']),
  network('10.1.2.3', ['', '', '']),
];

export const SITE_URL = 'https://example.com';
const link = (query: string, referrer: string, values: Readonly<Record<string, string>>): Link => ({
  query,
  referrer,
  values: { source: '', channel: 'Direct', referrer: '', ...values },
});
/** The link of a page that was opened directly. */
export const DIRECT = link('', '', {});
/** The link of a page that was opened from another page of the site. */
export const INTERNAL = link('', `${SITE_URL}/`, { referrer: '' });
export const LINKS: readonly Link[] = [
  DIRECT,
  link('', 'https://www.google.com/', { source: 'Google', channel: 'Organic Search', referrer: 'google.com' }),
  link('', 'https://www.reddit.com/r/x', { source: 'Reddit', channel: 'Organic Social', referrer: 'reddit.com' }),
  link('', 'https://blog.other.example/post', {
    source: 'other.example',
    channel: 'Referral',
    referrer: 'other.example',
  }),
  link('?utm_source=news&utm_medium=email&utm_campaign=spring', '', {
    ...{ source: 'news', channel: 'Email' },
    ...{ utm_source: 'news', utm_medium: 'email', utm_campaign: 'spring' },
  }),
  link('?utm_source=ads&utm_medium=cpc&utm_term=a%2Cb&utm_content=x', 'https://www.google.com/', {
    ...{ source: 'ads', channel: 'Paid Other', referrer: 'google.com' },
    ...{ utm_source: 'ads', utm_medium: 'cpc', utm_term: 'a,b', utm_content: 'x' },
  }),
];
/** The link of a server event without a page. Such an event has no channel. */
export const NO_LINK = link('', '', { channel: '' });

export const PATHS = [
  ...(['/', '/', '/', '/pricing', '/pricing', '/docs/a', '/docs/b', '/a,b:c', "/o'brien"] as const),
  // A character of these paths has a special meaning in globs or in regular expressions.
  ...(['/docs/a.b', '/docs/a/b', '/x*y'] as const),
  ...(['/%C3%BC', '/%c3%bc/a'] as const),
  // These paths differ from others only in the case of a letter, or have a special meaning in LIKE or in regular expressions.
  ...(['/Pricing', '/docs/A', '/100%_$', '/[x](y)+|z'] as const),
];
/** Paths for questions. Some are spelled as people write them. */
export const ASKED_PATHS = [...PATHS, '/ü', '/ü/a'];
/** Each site has an exclusion rule that drops hits with this path. */
export const DROPPED_PATH = '/hidden';
export const EVENT_NAMES = ['signup', 'paid', '$engagement', "it's: a,b", 'Signup', 'b\\s*{site:String}%'] as const;
/** Values of server events, as text. The last two are not amounts of payments (docs/people-and-money.md). */
export const AMOUNTS = [
  ...(['49.90', '-5', '0.10', '0.000000000000000001', '99999999999999999999'] as const),
  ...(['100000000000000000000', 'free'] as const),
];
export const LANGUAGES = ['', 'en', 'de-DE'] as const;
