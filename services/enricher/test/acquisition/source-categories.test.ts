import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attributionOf } from './attribution-of.ts';

const PAGE = 'https://example.com/';

/** The channel of each category in Google's list of sources, which support.google.com/analytics/answer/9756891 links. */
const CATEGORIES = {
  'Organic Search': `360.cn biglobe.ne.jp cse.google.com daum.net excite.com firmy.cz go.mail.ru m.naver.com msn.com news.google.com ntp.msn.com onet.pl
    play.google.com search.google.com search.smt.docomo.ne.jp search.ukr.net seznam.cz webmaster.yandex.ru www.google.com yahoo.co.jp yandex.kz`,
  'Organic Social': `5ch.net academia.edu allrecipes.com ancestry.com artstation.com b.hatena.ne.jp bebo.com blogger.com blogspot.com buzzfeed.com
    cafe.naver.com caringbridge.org chegg.com couchsurfing.org crunchyroll.com dianping.com digg.com diigo.com draft.blogger.com dzone.com fandom.com fark.com
    filmaffinity.com flipboard.com getpocket.com glassdoor.com goodreads.com googlegroups.com gree.jp groups.google.com gutefrage.net
    hootsuite.com houzz.com hubpages.com imageshack.com imvu.com internations.org italki.com kakaocorp.com kin.naver.com librarything.com
    medium.com messages.google.com mubi.com myanimelist.net netvibes.com nicovideo.jp okwave.jp paper.li photobucket.com pinboard.in pixiv.net quora.com
    ravelry.com researchgate.net reverbnation.com scoop.it scribd.com secondlife.com sites.google.com slashdot.org slideshare.net smartnews.com stackapps.com
    suomi24.fi t.me techmeme.com tencent.com tripadvisor.com tudou.com tweetdeck.com wattpad.com web.skype.com wikihow.com wikitravel.org wordpress.com
    wordpress.org www.reddit.com yelp.com chiebukuro.yahoo.co.jp`,
  'Organic Video':
    'crackle.com curiositystream.com d.tube dailymotion.com disneyplus.com fast.wistia.net hulu.com iq.com netflix.com ted.com twitch.tv vimeo.com youku.com',
  'Organic Shopping': `aax.amazon-adsystem.com alibaba.com apps.shopify.com ebay.de etsy.com mercadolibre.com.ar shop.app shopping.naver.com shopping.yahoo.co.jp
    shopzilla.com simplycodes.com walmart.com`,
};

const visits = Object.entries(CATEGORIES).flatMap(([channel, hosts]) =>
  hosts.split(/\s+/).map((host) => [host, channel] as const),
);

test.each(visits)('a visit from %s is %s, as in GA4', (host, channel) => {
  expect(attributionOf(PAGE, `https://${host}/`)[0]).toBe(channel);
});

test.each([
  ['IGShopping&utm_medium=Social', 'Organic Shopping', 'Instagram Shopping'],
  ['Google%20Shopping', 'Organic Shopping', 'Google Shopping'],
  ['google-play', 'Organic Search', 'Google Play'],
  ['googlemybusiness', 'Organic Search', 'Google Business Profile'],
  ['ig&utm_medium=Social', 'Organic Social', 'Instagram'],
  ['crunchyroll', 'Organic Social', 'Crunchyroll'],
  ['wordpress', 'Organic Social', 'WordPress'],
])('utm_source=%s is %s: %s, as in GA4', (source, channel, name) => {
  expect(attributionOf(`${PAGE}?utm_source=${source}`, '')).toEqual([channel, name]);
});

test('blogs on subdomains of wordpress.com and blogspot.com are Referral, as in GA4', () => {
  expect(attributionOf(PAGE, 'https://someone.wordpress.com/post')).toEqual(['Referral', 'wordpress.com']);
  expect(attributionOf(PAGE, 'https://someone.blogspot.com/post')).toEqual(['Referral', 'someone.blogspot.com']);
});

describe('sources with another channel than in GA4 (docs/stats.md)', () => {
  const page = readFileSync(join(__dirname, '../../../../docs/stats.md'), 'utf8');
  const rows = page.split('| source | in GA4 | in Weir | reason |')[1]?.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const sources = rows.flatMap((row) => {
    const [, names = '', ga4 = '', weir = ''] = row.split('|').map((cell) => cell.trim());
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, ga4, weir }));
  });

  test('the table is found', () => {
    expect(sources.length).toBeGreaterThan(5);
  });

  test.each(sources)('$name: $weir instead of $ga4', ({ name, ga4, weir }) => {
    expect(weir).not.toBe(ga4);
    expect(attributionOf(PAGE, `https://${name}`)[0]).toBe(weir);
  });
});
