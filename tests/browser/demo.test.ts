import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { describeBrowser, loaded, useBrowser } from './use-browser.ts';

describeBrowser('the demo site and the example page, by their rows', () => {
  const browser = useBrowser();

  test('a full run on /demo ends with exactly these events and sessions', async () => {
    const { url } = browser.weir;
    const page = await (await browser.context()).newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`${url}/demo`);
    await loaded(page);
    await page.click('#signup');
    await page.click('text=Pricing');
    await page.waitForURL('**/demo/pricing');
    await loaded(page);
    await page.click('#buy');
    await page.click('text=App');
    await page.waitForURL('**/demo/app');
    await loaded(page);
    await page.click('text=Inbox');
    await page.click('#identify');
    await page.click('text=Private');
    await page.waitForURL('**/demo/private');
    await loaded(page);
    const rows = await browser.rows('demo', 13, 'event_name, pathname, visitor_id, session_id, value, properties');
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
    // One more than the rows: the identity.
    await eventually('the page to show what was sent', async () => (await page.locator('#sent li').count()) === 14);

    const sessions = await browser.rows('demo', 1, 'pageviews, events, entry_path, exit_path, is_bounce', 'sessions');
    // The page's own events; $engagement of each of the four pages is counted nowhere.
    expect(sessions).toEqual([
      { pageviews: 4, events: 5, entry_path: '/demo', exit_path: '/demo/app/inbox', is_bounce: 0 },
    ]);
    const profiles = await browser.rows('demo', 1, 'user_id, visitor_ids', 'profiles');
    expect(profiles).toEqual([{ user_id: 'ada', visitor_ids: [rows[0]?.visitor_id] }]);
  });

  test('examples/browser.html', async () => {
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
