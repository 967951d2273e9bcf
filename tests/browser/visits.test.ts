import { eventually } from '@weir/testkit/eventually';
import { describeBrowser, loaded, stopClock, useBrowser } from './use-browser.ts';

describeBrowser('visits in Chromium, by their rows', () => {
  const browser = useBrowser();
  const PAGE = 'type, event_name, url, pathname, referrer, visitor_id, session_id, screen_width, bot';

  test('a first visit: one pageview with its referrer, campaign and screen', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context({ viewport: { width: 800, height: 600 } })).newPage();
    await page.goto(`${browser.site.url}/start?utm_source=news&x=1#part`, { referer: 'https://news.example/story' });
    const [row, ...more] = await browser.rows(siteId, 1, `${PAGE}, utm_source, referrer_domain, source`);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      type: 'pageview',
      event_name: '',
      url: `${browser.site.url}/start?utm_source=news&x=1`,
      pathname: '/start',
      referrer: 'https://news.example/story',
      utm_source: 'news',
      screen_width: 800,
      source: 'collect',
      bot: '',
    });
    expect(row?.visitor_id).toBe(await page.evaluate('weir.getVisitorId()'));
    expect(row?.session_id).toBe(await page.evaluate('weir.getSessionId()'));
    expect(row?.visitor_id).toMatch(/^\d{20,40}$/);
  });

  test('history changes to another path are pageviews; those that change only the query, or nothing, are not', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate(`history.pushState({}, '', '/b'); history.pushState({}, '', '/b'); history.replaceState({}, '', '/b?page=2');
      history.replaceState({}, '', '/c'); history.pushState({}, '', '#x');`);
    await page.evaluate(
      `new Promise((done) => { addEventListener('popstate', done, { once: true }); history.go(-3); })`,
    );
    const rows = await browser.rows(siteId, 4, PAGE);
    expect(rows.map((row) => [row.pathname, String(row.referrer).replace(browser.site.url, '')])).toEqual([
      ['/a', ''],
      ['/b', '/a'],
      ['/c', '/b'],
      ['/a', '/c'],
    ]);
    expect(new Set(rows.map((row) => row.session_id)).size).toBe(1);
  });

  test('hash routing: the fragment is part of the path', async () => {
    const siteId = await browser.openSite('data-hash');
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/#/one`);
    await loaded(page);
    await page.evaluate(`location.hash = '#/two'`);
    const rows = await browser.rows(siteId, 2, PAGE);
    expect(rows.map((row) => row.pathname)).toEqual(['/#/one', '/#/two']);
  });

  test('back and forward with the back/forward cache: each page that is shown is one pageview', async () => {
    const siteId = await browser.openSite(
      '',
      '<script>addEventListener("pageshow", (e) => { window.restored = e.persisted; })</script>',
    );
    const page = await (await browser.context()).newPage();
    // Waits for each row before the next page. If a page is left during a request, the browser does not keep it in its back/forward cache.
    for (const [index, path] of ['/one', '/two'].entries()) {
      await page.goto(`${browser.site.url}${path}`);
      await loaded(page);
      await browser.rows(siteId, index + 1);
    }
    await page.goBack({ waitUntil: 'commit' });
    const rows = await browser.rows(siteId, 3, PAGE);
    // The test waits for the rows before it reads `restored`, because the page can be visible before its event `pageshow`.
    const restored = await page.evaluate('window.restored');
    expect(rows.map((row) => row.pathname)).toEqual(['/one', '/two', '/one']);
    // Without this check, the test would also pass if the browser loaded the page again.
    expect(restored).toBe(true);
  });

  test('two tabs share visitor and session; another profile is another visitor', async () => {
    const siteId = await browser.openSite();
    const profile = await browser.context();
    for (const path of ['/one', '/two']) await (await profile.newPage()).goto(`${browser.site.url}${path}`);
    await (await (await browser.context()).newPage()).goto(`${browser.site.url}/three`);
    const rows = await browser.rows(siteId, 3, PAGE);
    const by = (path: string) => rows.find((row) => row.pathname === path);
    expect(by('/two')).toMatchObject({ visitor_id: by('/one')?.visitor_id, session_id: by('/one')?.session_id });
    expect(by('/three')?.visitor_id).not.toBe(by('/one')?.visitor_id);
  });

  test('subdomains share visitor and session by the cookie of the widest domain', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    for (const host of ['www.shop.localhost', 'blog.shop.localhost', 'other.localhost']) {
      await page.goto(`${browser.site.url.replace('127.0.0.1', host)}/`);
      await loaded(page);
    }
    const rows = await browser.rows(siteId, 3, `${PAGE}, hostname`);
    const by = (host: string) => rows.find((row) => row.hostname === host);
    const [www, blog, other] = ['www.shop.localhost', 'blog.shop.localhost', 'other.localhost'].map(by);
    expect(blog).toMatchObject({ visitor_id: www?.visitor_id, session_id: www?.session_id });
    expect(other?.visitor_id).not.toBe(www?.visitor_id);
  });

  test('30 idle minutes end a session, but the visitor stays the same', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    // The clock stands still, because a second that passes between the hits would also end the session.
    await stopClock(page);
    await page.goto(`${browser.site.url}/one`);
    await loaded(page);
    await page.clock.fastForward('29:59');
    await page.evaluate(`weir.track('in time')`);
    await page.clock.fastForward('30:01');
    await page.evaluate(`weir.track('too late')`);
    const rows = await browser.rows(siteId, 3, PAGE);
    expect(new Set(rows.map((row) => row.visitor_id)).size).toBe(1);
    expect(rows[1]?.session_id).toBe(rows[0]?.session_id);
    expect(rows[2]?.session_id).not.toBe(rows[0]?.session_id);
  });

  // Chromium does not prerender pages while DevTools is attached, and Playwright attaches DevTools. Therefore this test runs Chromium without
  // Playwright.
  test('a prerendered page counts when it is shown', async () => {
    const siteId = await browser.weir.client.createSite();
    let isPrerendered = false;
    let isLoaded = false;
    let go: (() => void) | undefined;
    const RULES = '<script type="speculationrules">{"prerender":[{"urls":["/next"],"eagerness":"immediate"}]}</script>';
    const CLICK =
      '<a href="/next">next</a><script>fetch("/go").then(() => document.querySelector("a").click())</script>';
    const START = 'performance.getEntriesByType("navigation")[0].activationStart';
    const TELL = `<script>addEventListener('load', () => { weir.track('loaded', { prerendered: document.prerendering === true }); fetch('/loaded'); });
      document.addEventListener('prerenderingchange', () => weir.track('activated', { start: ${START} }))</script>`;
    browser.site.serve(async (path, headers) => {
      if (path === '/go') await new Promise<void>((resolve) => (go = resolve));
      if (path === '/loaded') isLoaded = true;
      if (path === '/next') isPrerendered = headers['sec-purpose'] === 'prefetch;prerender';
      return { html: browser.tag(siteId) + (path === '/start' ? RULES + CLICK : TELL) };
    });
    const ownBrowser = browser.spawnChromium(`${browser.site.url}/start`);
    try {
      await eventually('the prerender', () => isPrerendered && isLoaded && go !== undefined);
      expect((await browser.rows(siteId, 1, PAGE)).map((row) => row.pathname)).toEqual(['/start']);
      go?.();
      const rows = await browser.rows(siteId, 4, `${PAGE}, properties`);
      expect(rows.map((row) => [row.pathname, row.event_name])).toEqual([
        ['/start', ''],
        ['/next', ''],
        ['/next', 'loaded'],
        ['/next', 'activated'],
      ]);
      expect(rows[2]?.properties).toMatchObject({ prerendered: true });
      expect(new Set(rows.map((row) => row.session_id)).size).toBe(1);
    } finally {
      await ownBrowser.close();
    }
  });
});
