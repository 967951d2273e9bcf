import { useOpened } from '@weir/testkit/use-opened';
import { openEnrichHarness, pageview, SITE } from '../pipeline/enrich-harness.ts';
import { attributionOf as of } from './attribution-of.ts';

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
    ['https://images.google.fr/', 'Organic Search', 'Google Images'],
    ['https://www.google.com/imgres?q=x', 'Organic Search', 'Google Images'],
    ['https://news.google.com/', 'Organic Search', 'Google News'],
    ['https://www.google.com.br/', 'Organic Search', 'Google'],
    ['https://google.notgoogle.com/', 'Referral', 'notgoogle.com'],
    ['https://google.blogspot.com/', 'Referral', 'google.blogspot.com'],
    ['https://es.search.yahoo.com/', 'Organic Search', 'Yahoo!'],
    ['https://yandex.com.tr/search', 'Organic Search', 'Yandex'],
    ['https://clck.yandex.ru/redir/x', 'Organic Search', 'Yandex'],
    ['https://www2.bing.com/search?q=x', 'Organic Search', 'Bing'],
    ['https://nam02.safelinks.protection.outlook.com/?url=x', 'Email', 'Outlook.com'],
    ['https://shop.us1.list-manage.com/track/click', 'Email', 'Mailchimp'],
    ['https://webmail.provider.example.org/', 'Email', 'webmail.provider.example.org'],
    ['https://mail2.someone.de/', 'Email', 'mail2.someone.de'],
    ['https://mail.de/', 'Referral', 'mail.de'],
    ['https://mail.python.org/archives/', 'Referral', 'Python Mailing Lists'],
    ['https://www.amazon.co.uk/dp/1', 'Organic Shopping', 'Amazon'],
    ['https://www.facebook.com/marketplace/item/1', 'Organic Shopping', 'Facebook Marketplace'],
    ['https://de.pinterest.com/', 'Organic Social', 'Pinterest'],
    ['https://www.pinterest.co.kr/', 'Organic Social', 'Pinterest'],
    ['https://meta.ua/', 'Organic Search', 'Meta'],
    ['https://chat.deepseek.com/', 'AI Assistants', 'DeepSeek'],
    ['https://chat.mistral.ai/chat', 'AI Assistants', 'Mistral'],
    ['https://grok.com/', 'AI Assistants', 'Grok'],
    ['https://x.com/i/grok', 'AI Assistants', 'Grok'],
    ['https://www.bing.com/copilotsearch?q=x', 'AI Assistants', 'Copilot'],
    ['https://venice.ai/', 'AI Assistants', 'Venice'],
    ['https://lmarena.ai/', 'AI Assistants', 'LMArena'],
    ['https://l.wl.co/l?u=x', 'Organic Social', 'WhatsApp'],
    ['https://example-org.translate.goog/', 'Referral', 'Google Translate'],
    ['https://x.com/', 'Organic Social', 'X'],
    ['https://you.com/search?q=x', 'AI Assistants', 'You'],
    ['https://www.phind.com/', 'AI Assistants', 'Phind'],
    ['https://www.meta.ai/', 'AI Assistants', 'Meta AI'],
    ['https://duckduckgo.com/chat', 'AI Assistants', 'Duck.ai'],
    ['android-app://com.google.android.gm/', 'Email', 'Gmail'],
    ['android-app://com.Slack', 'Organic Social', 'Slack'],
    ['android-app://com.openai.chatgpt/', 'AI Assistants', 'ChatGPT'],
    ['android-app://com.amazon.mShop.android.shopping/', 'Organic Shopping', 'Amazon'],
    ['android-app://org.some.app/', 'Referral', 'org.some.app'],
    ['https://www.google.com./', 'Organic Search', 'Google'],
    ['about:blank', 'Direct', ''],
    ['chrome-extension://abcdef/page.html', 'Direct', ''],
    ['file:///home/me/page.html', 'Direct', ''],
  ])('%s: %s, %s', (referrer, channel, source) => {
    expect(of(PAGE, referrer)).toEqual([channel, source]);
  });
});

describe('tags and click IDs', () => {
  test('a tag is cut to 255 chars, which are code points', () => {
    const tag = encodeURIComponent('😀'.repeat(256));
    expect(of(`${PAGE}?utm_source=${tag}`, '')).toEqual(['Unassigned', '😀'.repeat(255)]);
  });

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
    ['?gbraid=1', 'Paid Search', 'Google'],
    ['?wbraid=1', 'Paid Search', 'Google'],
    ['?twclid=1', 'Paid Social', 'X'],
    ['?li_fat_id=1', 'Paid Social', 'LinkedIn'],
    ['?yclid=1', 'Paid Search', 'Yandex'],
    ['?epik=1', 'Paid Social', 'Pinterest'],
    ['?rdt_cid=1', 'Paid Social', 'Reddit'],
    ['?ScCid=1', 'Paid Social', 'Snapchat'],
    ['?source=hn', 'Organic Social', 'Hacker News'],
    ['?utm_source=free', 'Unassigned', 'free'],
    ['?utm_source=meta&utm_medium=paid', 'Paid Social', 'Facebook'],
    ['?utm_source=(direct)&utm_medium=(none)', 'Direct', ''],
    ['?utm_source=(Direct)&utm_medium=(None)', 'Direct', ''],
    ['?utm_source=%20&utm_campaign=+', 'Direct', ''],
    ['?utm_medium=%20&gclid=1', 'Paid Search', 'Google'],
    ['?ref=%20&via=partner', 'Referral', 'partner'],
    ['?utm_source=email%20', 'Email', 'email '],
    ['?utm_source=%20sms', 'SMS', ' sms'],
    ['?utm_source=&utm_source=bing', 'Organic Search', 'Bing'],
    ['?utm_source=bing&utm_source=google', 'Organic Search', 'Bing'],
  ])('%s: %s, %s', (query, channel, source) => {
    expect(of(`${PAGE}${query}`, '')).toEqual([channel, source]);
  });

  test('a known referrer wins over a click ID that unpaid links have too', () => {
    expect(of(`${PAGE}?fbclid=1`, 'https://l.instagram.com/')).toEqual(['Organic Social', 'Instagram']);
    expect(of(`${PAGE}?fbclid=1`, 'https://blog.example.org/')).toEqual(['Organic Social', 'Facebook']);
    expect(of(`${PAGE}?gclid=1`, 'https://www.youtube.com/')).toEqual(['Paid Search', 'Google']);
  });

  test('a click ID of an ad wins over one that unpaid links have too', () => {
    expect(of(`${PAGE}?fbclid=1&gclid=2`, '')).toEqual(['Paid Search', 'Google']);
    expect(of(`${PAGE}?igsh=1&ScCid=2`, 'https://l.instagram.com/')).toEqual(['Paid Social', 'Snapchat']);
    expect(of(`${PAGE}?igsh=1&fbclid=2`, '')).toEqual(['Organic Social', 'Instagram']);
  });

  test('a tag of white space says nothing, so the referrer counts', () => {
    expect(of(`${PAGE}?utm_source=%20`, 'https://www.google.com/')).toEqual(['Organic Search', 'Google']);
    expect(of(`${PAGE}?ref=+`, 'https://www.google.com/')).toEqual(['Organic Search', 'Google']);
  });

  test('a tag wins over the referrer', () => {
    expect(of(`${PAGE}?utm_source=newsletter&utm_medium=email`, 'https://www.google.com/')).toEqual([
      'Email',
      'newsletter',
    ]);
  });
});

describe('the columns of a hit', () => {
  const harness = useOpened(openEnrichHarness);

  test('a referrer with the registrable domain of the page or of the site is internal: Direct, and the referrer is kept', async () => {
    const internal = [
      { referrer: 'https://www.example.com/a' },
      { referrer: 'https://docs.example.com/a' },
      { referrer: 'https://EXAMPLE.com./a' },
      { referrer: 'https://a.other.co.uk/', url: 'https://b.other.co.uk/' },
      { referrer: 'https://a.example.com/', url: 'https://b.other.co.uk/' },
      { referrer: 'http://192.0.2.1/', url: 'http://192.0.2.1/' },
      { referrer: 'https://mail.example.com/' },
      { referrer: 'https://xn--mnchen-3ya.example/', url: '/', hostname: 'www.M\u00fcnchen.example' },
    ];
    const rows = await harness.enrich(...internal.map((fields) => ({ body: pageview(fields) })));
    expect(rows).toEqual(
      internal.map(({ referrer }) =>
        expect.objectContaining({ channel: 'Direct', traffic_source: '', referrer_domain: '', referrer }),
      ),
    );
    const external = [
      ['https://notexample.com/a', 'notexample.com'],
      ['https://example.com.evil.org/', 'evil.org'],
      ['https://me.github.io/', 'me.github.io'],
      ['http://192.0.2.2/', '192.0.2.2'],
      ['android-app://com.example/', 'com.example'],
    ] as const;
    const url = 'https://you.github.io/';
    const others = await harness.enrich(...external.map(([referrer]) => ({ body: pageview({ referrer, url }) })));
    expect(others.map((row) => row.referrer_domain)).toEqual(external.map(([, domain]) => domain));
    expect(others.map((row) => row.channel)).toEqual(external.map(() => 'Referral'));
  });

  test('the url is stored without its fragment, and tags that were not sent come from its query', async () => {
    const [row] = await harness.enrich({
      body: pageview({ url: 'https://example.com/a?utm_source=q&utm_medium=qm#x?utm_term=no', utm_source: 'sent' }),
    });
    expect(row).toMatchObject({ utm_source: 'sent', utm_medium: 'qm', utm_term: '' });
    expect(row?.url).toBe('https://example.com/a?utm_source=q&utm_medium=qm');
  });

  test('a tag that is a URL names its host as the source; the column keeps the tag as sent', async () => {
    const tags = [
      ['ref=https%3A%2F%2Fwww.blog.example%2Fpost%3Fa%3Db', 'Referral', 'blog.example'],
      ['source=HTTP://News.Blog.example:8080', 'Referral', 'news.blog.example'],
      ['ref=https://www.reddit.com/r/x', 'Organic Social', 'Reddit'],
      ['utm_source=https://www.google.com/&utm_medium=organic', 'Organic Search', 'Google'],
      ['via=https://[', 'Referral', 'https://['],
      ['source=email', 'Email', 'email'],
      ['ref=sms', 'SMS', 'sms'],
      ['ref=mailchimp', 'Email', 'Mailchimp'],
    ] as const;
    expect(tags.map(([query]) => of(`${PAGE}?${query}`, ''))).toEqual(tags.map(([, ...expected]) => expected));
    const [row] = await harness.enrich({ body: pageview({ ref: 'https://blog.example/post' }) });
    expect(row).toMatchObject({ ref: 'https://blog.example/post', traffic_source: 'blog.example' });
  });

  test('a url can be only a path; hostname and pathname that were sent win over the url', async () => {
    const [path, fields] = await harness.enrich(
      { body: pageview({ url: '/a/b?utm_source=q#c' }) },
      { body: pageview({ url: 'https://example.com/a', hostname: 'h.example', pathname: '/virtual' }) },
    );
    expect(path).toMatchObject({ url: '/a/b?utm_source=q', pathname: '/a/b', hostname: '', utm_source: 'q' });
    expect(fields).toMatchObject({ hostname: 'h.example', pathname: '/virtual' });
  });

  test('a click ID is removed from the stored path, and its type is kept', async () => {
    const pathname = '/a?x=1&GCLID=2&utm_id=3&via=v&ref=r&source=s';
    const [both, alone] = await harness.enrich(
      { body: pageview({ url: 'https://example.com/a?msclkid=1', pathname }) },
      { body: pageview({ url: '', pathname }) },
    );
    // The column url loses only its fragment (docs/tables.md), so it keeps the click ID.
    expect(both).toMatchObject({
      url: 'https://example.com/a?msclkid=1',
      pathname: '/a?x=1',
      click_id_type: 'msclkid',
    });
    expect(alone).toMatchObject({ pathname: '/a?x=1', click_id_type: 'gclid', via: 'v', ref: 'r', source_param: 's' });
  });

  test('tags and click IDs are also removed from a query in the fragment of a path', async () => {
    const [row] = await harness.enrich({ body: pageview({ pathname: '/#/a?x=1&gclid=2&token=3#b' }) });
    expect(row?.pathname).toBe('/#/a?x=1&token=3#b');
    const [second] = await harness.enrich({ body: pageview({ pathname: '/?a=1#/b#c?gclid=2&x=3' }) });
    expect(second?.pathname).toBe('/?a=1#/b#c?x=3');
  });

  test('a text that only looks like a URL has no page, a long host is cut, and a URL of an app can have only a host', async () => {
    const urls = [
      'localhost:3000/a',
      'about:blank',
      `https://${'a'.repeat(300)}.example/p`,
      'myapp://home?utm_source=x',
      'myapp://home/a',
      'myapp:/a',
    ];
    const rows = await harness.enrich(...urls.map((url) => ({ body: pageview({ url }) })));
    const long = `${'a'.repeat(255)}`;
    expect(rows.map((row) => [row?.hostname, row?.pathname])).toEqual([
      ['', ''],
      ['', ''],
      [long, '/p'],
      ['home', ''],
      ['home', '/a'],
      ['', '/a'],
    ]);
  });

  test('a site can limit the query parameters of its stored URLs to a list', async () => {
    const site = harness.registry.site(SITE);
    if (site === undefined) throw new Error('the test harness has no site');
    const hit = {
      body: pageview({
        url: 'https://example.com/a?q=1&email=me%40x.org&utm_source=news&gclid=2#part',
        pathname: '/a?q=1&email=me',
        referrer: 'https://www.google.com/search?q=2&email=me#secret',
      }),
    };
    const tags = { utm_source: 'news', click_id_type: 'gclid', referrer_domain: 'google.com' };
    const cut = async (queryAllow: readonly string[]) => {
      await harness.registry.putSite({ ...site, queryAllow });
      return (await harness.enrich(hit))[0];
    };
    const inFragment = ['/#/a?q=1&token=3', '/#/a#b?token=3'].map((path) => ({ body: pageview({ pathname: path }) }));
    await harness.registry.putSite({ ...site, queryAllow: [] });
    expect((await harness.enrich(...inFragment)).map((row) => row.pathname)).toEqual(['/#/a', '/#/a#b']);
    expect(await cut(['q'])).toMatchObject({
      ...tags,
      url: 'https://example.com/a?q=1',
      pathname: '/a?q=1',
      referrer: 'https://www.google.com/search?q=2',
    });
    const none = { ...tags, url: 'https://example.com/a', pathname: '/a', referrer: 'https://www.google.com/search' };
    expect(await cut([])).toMatchObject(none);
    await harness.registry.putSite(site);
    expect((await harness.enrich(hit))[0]).toMatchObject({
      ...tags,
      url: 'https://example.com/a?q=1&email=me%40x.org&utm_source=news&gclid=2',
      pathname: '/a?q=1&email=me',
      referrer: 'https://www.google.com/search?q=2&email=me#secret',
    });
  });
});
