import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { describeBrowser, loaded, useBrowser } from './use-browser.ts';

/** Parses a UTC time in the format of ClickHouse. */
const toMs = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`);

describeBrowser('the demo site and the example page, by their rows', () => {
  const browser = useBrowser();

  test('a complete visit of /demo gives exactly these events and sessions', async () => {
    const { url } = browser.weir;
    const before = Date.now();
    const page = await (await browser.context()).newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`${url}/demo`);
    await loaded(page);
    await page.click('#signup');
    // The test waits for the rows here and below, because hits that are still queued when a page is left are sent together, in
    // no fixed order.
    await browser.rows('demo', 3);
    await page.click('text=Pricing');
    await page.waitForURL('**/demo/pricing');
    await loaded(page);
    await page.click('#buy');
    await browser.rows('demo', 7);
    await page.click('text=App');
    await page.waitForURL('**/demo/app');
    await loaded(page);
    await page.click('text=Inbox');
    await page.click('#identify');
    const [visitorId, sessionId] = await page.evaluate<string[]>('[weir.getVisitorId(), weir.getSessionId()]');
    expect([visitorId, sessionId]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
    await browser.rows('demo', 12);
    await browser.rows('demo', 1, '*', 'profiles');
    await page.click('text=Private');
    await page.waitForURL('**/demo/private');
    await loaded(page);
    const rows = await browser.rows('demo', 13, 'event_name, pathname, timestamp');
    const counted = rows.filter((row) => row.event_name !== '$engagement');
    expect(counted.map((row) => row.event_name || row.pathname)).toEqual([
      'demo_opened',
      '/demo',
      'signup',
      'demo_opened',
      '/demo/pricing',
      'purchase',
      'demo_opened',
      '/demo/app',
      '/demo/app/inbox',
    ]);
    expect(rows.filter((row) => row.event_name === '$engagement').map((row) => row.pathname)).toEqual([
      '/demo',
      '/demo/pricing',
      '/demo/app',
      '/demo/app/inbox',
    ]);
    expect(rows).toHaveLength(13);
    expect(errors).toEqual([]);
    // The list on the page has one entry more than there are rows: the identify, which has no row.
    await eventually('the page to show what was sent', async () => (await page.locator('#sent li').count()) === 14);

    const times = rows.map((row) => String(row.timestamp)).sort();
    const started_at = times[0] as string;
    const ended_at = times.at(-1) as string;
    expect(toMs(started_at)).toBeGreaterThanOrEqual(before);
    expect(toMs(ended_at)).toBeLessThanOrEqual(Date.now());
    // Every column of `sessions` (docs/tables.md).
    expect(await browser.rows('demo', 1, '*', 'sessions')).toEqual([
      {
        site_id: 'demo',
        session_id: sessionId,
        visitor_id: visitorId,
        started_at,
        ended_at,
        duration_seconds: Math.floor((toMs(ended_at) - toMs(started_at)) / 1000),
        // `events` excludes the internal `$engagement` events of the four pages.
        pageviews: 4,
        events: 5,
        entry_path: '/demo',
        exit_path: '/demo/app/inbox',
        is_bounce: 0,
        referrer_domain: '',
        channel: 'Direct',
        traffic_source: '',
        utm_source: '',
        utm_medium: '',
        utm_campaign: '',
        utm_term: '',
        utm_content: '',
        // A loopback address has no location.
        country: '',
        region: '',
        city: '',
        browser: 'Chrome',
        os: 'Linux',
        device_type: 'desktop',
      },
    ]);
    const profiles = await browser.rows('demo', 1, 'user_id, visitor_ids', 'profiles');
    expect(profiles).toEqual([{ user_id: 'ada', visitor_ids: [visitorId] }]);
  });

  test('examples/browser.html works without changes', async () => {
    const siteId = await browser.weir.client.createSite();
    const html = readFileSync(join(PROJECT_ROOT, 'examples/browser.html'), 'utf8')
      .replace('http://127.0.0.1:8080', browser.weir.url)
      .replace('data-site="demo"', `data-site="${siteId}"`);
    browser.site.serve(() => ({ html }));
    await (await (await browser.context()).newPage()).goto(`${browser.site.url}/shop`);
    const rows = await browser.rows(siteId, 2, 'type, event_name, value');
    expect(rows).toMatchObject([{ type: 'pageview' }, { event_name: 'purchase', value: 49 }]);
    expect(await browser.rows(siteId, 1, 'user_id, email', 'profiles')).toEqual([
      { user_id: 'ada', email: 'ada@example.com' },
    ]);
  });
});
