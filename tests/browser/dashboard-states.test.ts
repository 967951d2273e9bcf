import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';
const PHONE = { viewport: { width: 390, height: 844 } };
/** In a narrower table cell, the text breaks after a few letters. */
const CELL_WIDTH_MIN_PX = 100;
const PAGES_MAX = 100;

describeBrowser('the dashboard, used in ways that go wrong', () => {
  const browser = useBrowser();
  const visitors = (page: Page) => page.textContent('[data-metric=visitors]');

  async function siteWithHits(name: string, ...paths: readonly string[]): Promise<string> {
    const { client } = browser.weir;
    const site = await client.createSite({ name });
    for (const [index, path] of paths.entries()) {
      const hit = { site_id: site, visitor_id: `v${index}`, session_id: `s${index}`, type: 'pageview' };
      await client.collect({ ...hit, url: `https://example.com${path}` }, { 'user-agent': FIREFOX });
    }
    await browser.rows(site, paths.length);
    return site;
  }

  test('a list of sites that cannot be loaded says so and can be tried again', async () => {
    const site = await siteWithHits('No list', '/');
    const { page } = await openDashboard(browser);
    await page.route(/\/api\/admin\/sites$/, (route) => route.abort());
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    const problem = page.getByRole('alert').filter({ hasText: 'Weir did not answer. Is it running?' });
    await problem.waitFor();
    await page.unroute(/\/api\/admin\/sites$/);
    await problem.getByRole('button', { name: 'Try again' }).click();
    await eventually('the report', async () => (await visitors(page)) === '1');
  });

  test('the page of a site that is removed meanwhile ends, with a way to the other sites', async () => {
    const site = await siteWithHits('Removed', '/');
    const { page } = await openDashboard(browser, `/sites/${site}/overview`);
    await page.waitForSelector('[data-metric=visitors]');
    await browser.weir.client.must(200, 'DELETE', `/sites/${site}`);
    await page.keyboard.press('d');
    await page.getByText(`There is no site ${site}`).waitFor();
    expect(await page.title()).toContain('There is no site');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Go to the start page' }).click();
    await page.getByRole('heading', { name: 'All sites' }).waitFor();
  });

  test('the back button undoes filters and periods one by one, and the page keeps its position', async () => {
    const site = await siteWithHits('Back', '/', '/', '/pricing');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview`);
    await page.locator('[data-panel=bots]').scrollIntoViewIfNeeded();
    await page.locator('[data-panel=pages] .bar-row', { hasText: '/pricing' }).dispatchEvent('click');
    await eventually('the filtered numbers', async () => (await visitors(page)) === '1');
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
    await page.keyboard.press('w');
    await page.getByRole('button', { name: 'Last 7 days' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Last 30 days' }).waitFor();
    await page.locator('.chip', { hasText: '/pricing' }).waitFor();
    await page.goBack();
    await eventually('all numbers', async () => (await visitors(page)) === '3');
    expect(await page.locator('.chip').count()).toBe(0);
    await page.goForward();
    await page.locator('.chip', { hasText: '/pricing' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('a session that ended in another tab asks for the token, and then shows the same report', async () => {
    const site = await siteWithHits('Two tabs', '/', '/pricing');
    const { page } = await openDashboard(browser, `/sites/${site}/overview?filter=page:is:/pricing`);
    await page.locator('.chip', { hasText: '/pricing' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${browser.weir.url}/dashboard`);
    await other.getByRole('button', { name: 'Administrator' }).click();
    await other.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await other.getByLabel('Admin or viewer token').waitFor();
    await page.keyboard.press('d');
    await page.locator('#token:focus').waitFor();
    await page.getByLabel('Admin or viewer token').fill(browser.weir.client.adminToken);
    await page.getByLabel('Admin or viewer token').press('Enter');
    await page.locator('.chip', { hasText: '/pricing' }).waitFor();
    await eventually('the filtered report', async () => (await visitors(page)) === '1');
  });

  test('a sign-out without an answer says so, and can be tried again', async () => {
    const { page, errors } = await openDashboard(browser);
    const isSession = (url: URL) => url.pathname === '/api/admin/session';
    await page.route(isSession, (route) => (route.request().method() === 'DELETE' ? route.abort() : route.fallback()));
    // A request that is sent directly after a new route was set may miss the route, so the page is loaded again.
    await page.reload();
    const signOut = async () => {
      await page.getByRole('button', { name: 'Administrator' }).click();
      await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    };
    await signOut();
    const problem = page.getByRole('navigation').getByRole('alert');
    await problem.filter({ hasText: 'Weir did not answer. Is it running?' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.unroute(isSession);
    await signOut();
    await page.getByLabel('Admin or viewer token').waitFor();
    expect(errors).toEqual([]);
  });

  test('a list of more than 10,000 values says where it ends', async () => {
    const site = await siteWithHits('Many', '/');
    const { page, errors } = await openDashboard(browser);
    await page.route(/\/breakdown\?.*dimension=page&.*limit=100&/, async (route) => {
      const number = new URL(route.request().url()).searchParams.get('page');
      const totals = { visitors: 1, visits: 1, pageviews: 1, events: 0 };
      const means = { bounce_rate: 1, visit_duration: 0, views_per_visit: 1 };
      const rows = [{ value: `/${'long/'.repeat(400)}${number}`, ...totals, ...means }];
      await route.fulfill({ json: { status: 'success', data: { dimension: 'page', has_more: true, rows } } });
    });
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    await page.locator('[data-panel=pages]').getByRole('button', { name: 'All values' }).click();
    const dialog = page.getByRole('dialog');
    for (let number = 2; number <= PAGES_MAX; number++) {
      await dialog.getByRole('button', { name: 'Next' }).click();
      await dialog.getByText(`Page ${number}`, { exact: true }).waitFor();
    }
    await dialog.getByText('The list ends after 10,000 values.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Next');
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('a report that is not answered does not keep the reader from another page', async () => {
    const site = await siteWithHits('Hanging', '/');
    const { page } = await openDashboard(browser);
    await page.route(/\/breakdown\?.*period=today/, () => undefined);
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    await page.waitForSelector('[data-metric=visitors]');
    await page.keyboard.press('d');
    await page.getByText('This takes longer than a second.').first().waitFor();
    await page.getByText('No answer for 30 seconds.').first().waitFor({ timeout: 120_000 });
    expect(await violationsOf(page)).toEqual([]);
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/settings`, { timeout: 60_000 });
    await page.getByLabel('Domain').waitFor();
  });

  test('a former answer is marked while the next one loads, can be cancelled, and never appears under another name', async () => {
    const site = await siteWithHits('Former', '/', '/pricing');
    const { client } = browser.weir;
    await client.must(201, 'POST', `/sites/${site}/goals`, { type: 'page', value: '/pricing' });
    const { page, errors } = await openDashboard(browser);
    // The routes are set before the pages load, because a request that is sent directly after a new route was set may miss the route.
    for (const held of [
      /\/(stats|breakdown|conversions|funnel|cohorts|journeys)\?.*period=today/,
      /\/breakdown\?.*dimension=hostname/,
      /\/cohorts\?.*interval=month/,
    ])
      await page.route(held, () => undefined);
    const steps = 'step=page:/&step=page:/pricing';
    const reports = [
      ['overview', '.tiles', '.tiles.old'],
      ['overview', '[data-panel=places] .map', '[data-panel=places] .old .map'],
      ['goals', '[data-testid=goals]', '[data-testid=goals].old'],
      [`funnels?${steps}`, '.funnel', '.old .funnel'],
      ['retention', '.cohorts', '.cohorts.old'],
      ['journeys', '[data-testid=next]', '.old [data-testid=next]'],
    ] as const;
    for (const [path, shown, marked] of reports) {
      await page.goto(`${browser.weir.url}/dashboard/sites/${site}/${path}`);
      await page.locator(shown).waitFor();
      expect(await page.locator(marked).count()).toBe(0);
      await page.keyboard.press('d');
      await page.locator(marked).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).first().waitFor();
    }

    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    const panel = page.locator('[data-panel=pages]');
    await panel.locator('.bar-row', { hasText: '/pricing' }).waitFor();
    await panel.getByRole('tab', { name: 'Hosts' }).click();
    await panel.getByText('This takes longer than a second.').waitFor();
    expect(await panel.locator('.bar-row').count()).toBe(0);

    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/retention`);
    const cohort = page.locator('.cohorts tbody th').first();
    const week = await cohort.textContent();
    await page.getByLabel('Cohorts by').selectOption('month');
    await page.getByText('This takes longer than a second.').waitFor();
    expect(await cohort.textContent()).toBe(week);
    expect(errors).toEqual([]);
  });

  const LIVE = /\/api\/admin\/sites\/[^/]+\/live$/;
  const ALERT = 'The connection was lost.';
  /** A stream that ends immediately. Because of `retry`, the browser connects again after 10 ms. */
  const ENDED = { status: 200, contentType: 'text/event-stream', body: 'retry: 10\n\n' };

  test('live events are shown again after the server refused a new connection', async () => {
    const site = await siteWithHits('Refused', '/');
    const { page } = await openDashboard(browser);
    const answers = [ENDED, { status: 503 }];
    await page.route(LIVE, (route) => {
      const next = answers.shift();
      return next === undefined ? route.continue() : route.fulfill(next);
    });
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/realtime`);
    const live = page.locator('[data-testid=live]');
    await live.getByRole('alert').filter({ hasText: ALERT }).waitFor();
    await eventually('a record', async () => {
      const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'event', event_name: 'after' };
      await browser.weir.client.collect({ ...hit, url: 'https://example.com/' }, { 'user-agent': FIREFOX });
      return (await live.locator('.live-list summary', { hasText: 'after' }).count()) > 0;
    });
    expect(answers).toEqual([]);
    expect(await live.getByRole('alert').count()).toBe(0);
  });

  test('paused live events do not connect again', async () => {
    const site = await siteWithHits('Paused', '/');
    const { page } = await openDashboard(browser);
    let requests = 0;
    await page.route(LIVE, (route) => {
      requests += 1;
      return route.fulfill({ status: 503 });
    });
    await page.clock.install();
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/realtime`);
    const live = page.locator('[data-testid=live]');
    await live.getByRole('alert').filter({ hasText: ALERT }).waitFor();
    await live.getByRole('button', { name: 'Pause' }).click();
    await live.getByRole('button', { name: 'Continue' }).waitFor();
    expect(await live.getByText('Waiting for the next record').count()).toBe(0);
    // The browser reports requests in their order. When this one is answered, the counter contains all requests before it.
    const requestsNow = async (): Promise<number> => {
      expect(await page.evaluate(`fetch('/api/admin/session').then(({ status }) => status)`)).toBe(200);
      return requests;
    };
    const before = await requestsNow();
    await page.clock.fastForward(60_000);
    expect(await requestsNow()).toBe(before);
  });

  test('while ClickHouse hangs, the pages say so and what to do, and show reports again afterwards', async () => {
    const site = await siteWithHits('Hung', '/');
    const { page } = await openDashboard(browser, `/sites/${site}/overview`);
    await page.waitForSelector('[data-metric=visitors]');
    const numbers = page.getByRole('region', { name: 'Numbers' });
    const clickhouse = browser.weir.clickhousePid();
    process.kill(clickhouse, 'SIGSTOP');
    try {
      await page.keyboard.press('d');
      const problem = numbers.getByRole('alert').filter({ hasText: /ClickHouse does not respond.*restart it/ });
      // Weir needs up to 27 s to notice that ClickHouse does not respond. The page sends its request three times before it shows the error.
      await problem.waitFor({ timeout: 120_000 });
      expect(await violationsOf(page)).toEqual([]);
      await page.goto(`${browser.weir.url}/dashboard/sites/${site}/settings`, { timeout: 60_000 });
      await page.getByLabel('Domain').waitFor();
    } finally {
      process.kill(clickhouse, 'SIGCONT');
    }
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    await eventually('the report', async () => (await visitors(page)) === '1');
  });

  test('on a phone, no cell of a table is too narrow for its text, and the page does not scroll sideways', async () => {
    const { client } = browser.weir;
    const site = await siteWithHits('Phone', '/');
    const { key } = await client.createKey(site, { name: 'backend' });
    await client.identify(key, { visitor_id: 'v0', user_id: 'u', name: 'Ada Lovelace', company: 'Harbour Ltd' });
    await client.must(201, 'POST', `/sites/${site}/goals`, { type: 'event', value: 'subscription paid' });
    await client.settled();
    const { page, errors } = await openDashboard(browser, '', PHONE);
    for (const path of ['people', 'goals', 'settings']) {
      await page.goto(`${browser.weir.url}/dashboard/sites/${site}/${path}`);
      await page.locator('.table .long').first().waitFor();
      const widths = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.table .long')].map((cell) => cell.getBoundingClientRect().width)`,
      );
      expect({ path, isTooNarrow: Math.min(...widths) < CELL_WIDTH_MIN_PX }).toEqual({ path, isTooNarrow: false });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
    expect(errors).toEqual([]);
  });

  test('the headings of the numbers of a SQL result are above the numbers', async () => {
    const { page } = await openDashboard(browser, '/sql');
    await page.getByRole('button', { name: 'Run' }).press('Enter');
    await page.locator('[data-testid=sql-result]').waitFor();
    expect(await page.evaluate(`document.activeElement.matches('button.primary')`)).toBe(true);
    const editor = page.getByRole('textbox', { name: 'Statement' });
    await editor.press('Control+a');
    await page.keyboard.insertText(`SELECT 'text' AS name, 12 AS number `);
    await editor.press('Control+Enter');
    const heading = page.locator('[data-testid=sql-result] th', { hasText: 'number' });
    await heading.waitFor();
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector('[data-testid=sql-result] th.number')).textAlign`),
    ).toBe('right');
  });
});
