import { createSources } from '@weir/domain/source';
import { publicSuffixOf } from '../src/host-domain.ts';
import { createPageUrls } from '../src/page-url.ts';
import { createReferrers } from '../src/referrer.ts';
import { loadSourceLists } from '../src/source-lists.ts';
import { attribute } from '../src/traffic.ts';
import { type EnrichHarness, openEnrichHarness, pageview } from './enrich-harness.ts';

const sources = createSources(loadSourceLists(), publicSuffixOf);
const pageUrl = createPageUrls();
const referrerOf = createReferrers(sources);

function of(url: string, referrer: string) {
  const { tags, clickId } = pageUrl(url);
  const from = referrerOf(referrer);
  const { channel, trafficSource } = attribute(
    { tags, clickId, referrer: from.hostname === '' ? undefined : from },
    sources,
  );
  return [channel, trafficSource];
}

const PAGE = 'https://example.com/';

describe('referrers', () => {
  test.each([
    ['', 'Direct', ''],
    ['not a url', 'Direct', ''],
    ['https://www.google.com/', 'Organic Search', 'Google'],
    ['https://www.google.co.uk/', 'Organic Search', 'Google'],
    ['https://duckduckgo.com/', 'Organic Search', 'DuckDuckGo'],
    ['https://www.baidu.com/link?url=x', 'Organic Search', 'Baidu'],
    ['https://kagi.com/search?q=x', 'Organic Search', 'Kagi'],
    ['https://search.yahoo.com/', 'Organic Search', 'Yahoo!'],
    ['android-app://com.google.android.googlequicksearchbox/', 'Organic Search', 'Google'],
    ['https://mail.google.com/mail/u/0/', 'Email', 'Gmail'],
    ['https://docs.google.com/document/', 'Referral', 'Google Docs'],
    ['https://gemini.google.com/', 'AI Assistants', 'Gemini'],
    ['https://chatgpt.com/', 'AI Assistants', 'ChatGPT'],
    ['https://www.perplexity.ai/search', 'AI Assistants', 'Perplexity'],
    ['https://claude.ai/', 'AI Assistants', 'Claude'],
    ['https://copilot.microsoft.com/', 'AI Assistants', 'Copilot'],
    ['https://www.reddit.com/r/x', 'Organic Social', 'Reddit'],
    ['https://l.facebook.com/', 'Organic Social', 'Facebook'],
    ['https://t.co/abc', 'Organic Social', 'X'],
    ['https://x.company.com/', 'Referral', 'company.com'],
    ['https://news.ycombinator.com/', 'Organic Social', 'Hacker News'],
    ['https://www.tiktok.com/', 'Organic Social', 'TikTok'],
    ['https://www.youtube.com/watch?v=1', 'Organic Video', 'YouTube'],
    ['https://www.amazon.de/dp/1', 'Organic Shopping', 'Amazon'],
    ['https://www.google.com/products?q=x', 'Organic Shopping', 'Google Shopping'],
    ['https://me.github.io/', 'Referral', 'GitHub'],
    ['https://blog.someone.co.uk/post', 'Referral', 'someone.co.uk'],
    ['http://192.0.2.1/', 'Referral', '192.0.2.1'],
  ])('%s: %s, %s', (referrer, channel, source) => {
    expect(of(PAGE, referrer)).toEqual([channel, source]);
  });
});

describe('tags and click IDs', () => {
  test.each([
    ['?utm_source=Google&utm_medium=cpc', 'Paid Search', 'Google'],
    ['?utm_source=fb&utm_medium=paid_social', 'Paid Social', 'Facebook'],
    ['?utm_source=chatgpt.com', 'AI Assistants', 'ChatGPT'],
    ['?utm_source=news&utm_medium=email', 'Email', 'news'],
    ['?utm_source=news', 'Unassigned', 'news'],
    ['?utm_medium=affiliate&ref=bob', 'Affiliates', 'bob'],
    ['?ref=producthunt', 'Organic Social', 'Product Hunt'],
    ['?via=partner', 'Referral', 'partner'],
    ['?gclid=1', 'Paid Search', 'Google'],
    ['?GCLID=1', 'Paid Search', 'Google'],
    ['?msclkid=1', 'Paid Search', 'Bing'],
    ['?fbclid=1', 'Organic Social', 'Facebook'],
    ['?ttclid=1', 'Paid Social', 'TikTok'],
    ['?dclid=1', 'Display', 'Google'],
    ['?gclid=', 'Direct', ''],
  ])('%s: %s, %s', (query, channel, source) => {
    expect(of(`${PAGE}${query}`, '')).toEqual([channel, source]);
  });

  test('a tag wins over the referrer', () => {
    expect(of(`${PAGE}?utm_source=newsletter&utm_medium=email`, 'https://www.google.com/')).toEqual([
      'Email',
      'newsletter',
    ]);
  });
});

describe('the columns of a hit', () => {
  let harness: EnrichHarness;
  beforeAll(async () => {
    harness = await openEnrichHarness();
  });
  afterAll(() => harness.close());

  test('hits from the site and its subdomains are internal referrers', async () => {
    const [own, sub, lookalike] = await harness.enrich(
      { body: pageview({ referrer: 'https://www.example.com/a' }) },
      { body: pageview({ referrer: 'https://docs.example.com/a' }) },
      { body: pageview({ referrer: 'https://notexample.com/a' }) },
    );
    expect(own).toMatchObject({ channel: 'Direct', referrer_domain: '', referrer: 'https://www.example.com/a' });
    expect(sub).toMatchObject({ channel: 'Direct', traffic_source: '' });
    expect(lookalike).toMatchObject({ channel: 'Referral', referrer_domain: 'notexample.com' });
  });

  test('"url without its fragment"; tags "taken from the url\'s query where the field is not sent"', async () => {
    const [row] = await harness.enrich({
      body: pageview({ url: 'https://example.com/a?utm_source=q&utm_medium=qm#x?utm_term=no', utm_source: 'sent' }),
    });
    expect(row).toMatchObject({ utm_source: 'sent', utm_medium: 'qm', utm_term: '' });
    expect(row?.url).toBe('https://example.com/a?utm_source=q&utm_medium=qm');
  });

  test('a path alone, and fields that win over the url', async () => {
    const [path, fields] = await harness.enrich(
      { body: pageview({ url: '/a/b?utm_source=q#c' }) },
      { body: pageview({ url: 'https://example.com/a', hostname: 'h.example', pathname: '/virtual' }) },
    );
    expect(path).toMatchObject({ url: '/a/b?utm_source=q', pathname: '/a/b', hostname: '', utm_source: 'q' });
    expect(fields).toMatchObject({ hostname: 'h.example', pathname: '/virtual' });
  });
});
