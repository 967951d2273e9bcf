import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { describeBrowser, loaded, stopClock, useBrowser } from './use-browser.ts';

describeBrowser('hidden pages and unusual pages in Chromium, by the rows', () => {
  const browser = useBrowser();
  const namesOf = async (siteId: string, count: number) =>
    (await browser.rows(siteId, count, 'event_name, pathname')).map((row) => row.event_name || row.pathname);

  /**
   * Opens a page that the function `hide` can hide. Playwright cannot put a tab into the background. `prepare` is called before the page loads.
   */
  const open = async (path: string, prepare?: (page: Page) => Promise<unknown>): Promise<Page> => {
    const context = await browser.context();
    await context.addInitScript(`Object.defineProperty(document, 'hidden', { get: () => !!window.isHidden })`);
    const page = await context.newPage();
    await prepare?.(page);
    await page.goto(browser.site.url + path);
    await loaded(page);
    return page;
  };
  const hide = (page: Page, isHidden: boolean) =>
    page.evaluate(
      `window.isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
    );
  const queued = (page: Page) => page.evaluate<string>(`localStorage['weir.q'] || ''`);

  test('the time in a hidden tab is not sent as engagement', async () => {
    const siteId = await browser.openSite('data-engagement');
    const page = await open('/a');
    await browser.rows(siteId, 1);
    await hide(page, true);
    await page.evaluate(`history.pushState({}, '', '/b'); history.pushState({}, '', '/c')`);
    await page.goto('about:blank');
    expect((await namesOf(siteId, 4)).toSorted()).toEqual(['$engagement', '/a', '/b', '/c']);
  });

  test('a page that is shown again sends engagement when it is left', async () => {
    const siteId = await browser.openSite('data-engagement');
    const page = await open('/a');
    await browser.rows(siteId, 1);
    for (const isHidden of [true, false, true]) await hide(page, isHidden);
    expect((await namesOf(siteId, 3)).toSorted()).toEqual(['$engagement', '$engagement', '/a']);
  });

  test('a hit that a hidden page cannot send is stored at once, and sent by the next page', async () => {
    const siteId = await browser.openSite();
    const page = await open('/a');
    await browser.rows(siteId, 1);
    await hide(page, true);
    await page.route('**/api/collect', (route) => route.abort());
    // The test stops the clock. Otherwise the snippet could send the queued hits again before the second page is open.
    await stopClock(page);
    await page.evaluate(`weir.track('refused')`);
    await eventually('the stored hit', async () => (await queued(page)).includes('refused'));
    await page.evaluate(`weir.track('waiting')`);
    await eventually('the second hit', async () => (await queued(page)).includes('waiting'));
    await page.unroute('**/api/collect');
    await (await page.context().newPage()).goto(`${browser.site.url}/b`);
    expect(await namesOf(siteId, 4)).toEqual(['/a', 'refused', 'waiting', '/b']);
  });

  test('hits that wait when a hidden page ends are sent as beacons', async () => {
    const siteId = await browser.openSite();
    // The hit `hangs` is never answered. Its route is set before the page loads, because a request directly after a new route was set may miss the
    // route.
    const page = await open('/a', (opened) =>
      opened.route('**/api/collect', (route) =>
        route.request().postData()?.includes('hangs') ? undefined : route.continue(),
      ),
    );
    await browser.rows(siteId, 1);
    await hide(page, true);
    await page.evaluate(`weir.track('hangs'); weir.track('waiting'); dispatchEvent(new Event('pagehide'))`);
    expect(await namesOf(siteId, 2)).toEqual(['/a', 'waiting']);
  });

  test('data-manual: a return from the back/forward cache is a pageview only if there was one before', async () => {
    const siteId = await browser.openSite('data-manual');
    const page = await open('/a');
    const restore = `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`;
    await page.evaluate(`${restore}; weir.track('first'); weir.pageview(); ${restore}; weir.track('last')`);
    expect(await namesOf(siteId, 4)).toEqual(['first', '/a', '/a', 'last']);
  });

  test.each([null, 5, 'text'])(
    'track with the properties %j sends the event, and later calls of the stub run',
    async (properties) => {
      const siteId = await browser.weir.client.createSite();
      const early = `weir.track('early', ${JSON.stringify(properties)}); weir.track('next')`;
      browser.site.serve(() => ({
        html: `<script src="${browser.weir.url}/weir-stub.js"></script><script>${early}</script>${browser.tag(siteId)}`,
      }));
      await open('/a');
      expect(await namesOf(siteId, 3)).toEqual(['early', 'next', '/a']);
    },
  );

  test('data-exclude matches paths with letters that a URL must escape', async () => {
    const siteId = await browser.openSite('data-exclude="/Jürgen*"');
    const page = await open('/Jürgen/1');
    await page.goto(`${browser.site.url}/J%FCrgen`);
    expect(await namesOf(siteId, 1)).toEqual(['/J%FCrgen']);
  });

  test.each([true, false])('a page with an element whose ID is weir (with the stub: %j)', async (hasStub) => {
    const siteId = await browser.weir.client.createSite();
    const stub = `<script src="${browser.weir.url}/weir-stub.js"></script><script>weir.track('early')</script>`;
    browser.site.serve(() => ({ html: `<div id="weir"></div>${hasStub ? stub : ''}${browser.tag(siteId)}` }));
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    expect(await namesOf(siteId, hasStub ? 2 : 1)).toEqual(hasStub ? ['early', '/a'] : ['/a']);
  });
});
