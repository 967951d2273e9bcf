import { eventually } from '@weir/testkit/eventually';
import { holdRequests, openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';

describeBrowser('reports and pages of the dashboard that fail or are slow', () => {
  const browser = useBrowser();

  test('a report that fails shows why, and can be tried again', async () => {
    const site = await browser.weir.client.createSite({ name: 'Slow' });
    const { page } = await openDashboard(browser);
    const asked: string[] = [];
    let isFailing = true;
    await page.route(/\/stats\?/, async (route) => {
      asked.push(route.request().url());
      if (isFailing) await route.abort();
      else await route.continue();
    });
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    const problem = page.locator('.series').getByRole('alert');
    await problem.filter({ hasText: 'Weir did not answer. Is it running?' }).waitFor();
    isFailing = false;
    await problem.getByRole('button', { name: 'Try again' }).click();
    // The site has no hits. When the page knows this from the answer, it shows the installation instead of the reports.
    await page.waitForSelector('.install');
    expect(asked.length).toBeGreaterThan(1);

    // 90 days have too many hours for one report. The reader can choose another interval beside the error.
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview?period=90d&interval=hour`);
    await problem.filter({ hasText: 'interval must give at most' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Interval: Hours' }).click();
    expect(await page.getByRole('menuitemradio', { name: 'Hours' }).count()).toBe(0);
    await page.getByRole('menuitemradio', { name: 'Days' }).click();
    await page.waitForSelector('.install');
  });

  test('while Weir does not answer, a page says that its numbers may be old, and shows new numbers afterwards', async () => {
    const site = await browser.weir.client.createSite({ name: 'Stopped' });
    const hit = { site_id: site, session_id: 's', type: 'pageview', url: 'https://example.com/here' };
    const visit = (visitor: string) =>
      browser.weir.client.collect({ ...hit, visitor_id: visitor }, { 'user-agent': FIREFOX });
    await visit('first');
    await browser.rows(site, 1);
    const { page } = await openDashboard(browser, `/sites/${site}/overview`);
    const visitors = page.locator('[data-metric=visitors]');
    await eventually('one visitor', async () => (await visitors.textContent()) === '1');
    await page.route(/\/api\/admin\//, (route) => route.abort());
    const note = page.locator('#content > .problem');
    await note
      .filter({ hasText: 'Weir did not answer. Is it running? The numbers on this page may be old.' })
      .waitFor();
    expect(await visitors.textContent()).toBe('1');
    await visit('second');
    await browser.rows(site, 2);
    await page.unroute(/\/api\/admin\//);
    await note.waitFor({ state: 'detached' });
    await eventually('two visitors', async () => (await visitors.textContent()) === '2');
  });

  test('a panel that takes longer than a second says so, can be cancelled, and can be tried again', async () => {
    const site = await browser.weir.client.createSite({ name: 'Waiting' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/here' };
    await browser.weir.client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const { page, errors } = await openDashboard(browser);
    let isAborted = false;
    page.on('requestfailed', (request) => {
      isAborted ||= request.url().includes('dimension=page');
    });
    // The test never answers this request, so the request waits until the page aborts it.
    await page.route(/\/breakdown\?.*dimension=page(?:&|$)/, () => undefined);
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    const panel = page.locator('[data-panel=pages]');
    await panel.getByText('This takes longer than a second.').waitFor();
    await panel.getByRole('button', { name: 'Cancel' }).click();
    await panel.getByText('Cancelled.').waitFor();
    await eventually('the request is aborted', () => isAborted);
    // The other panels show their answers meanwhile.
    await page.locator('[data-panel=sources] .bar-row').first().waitFor();
    await page.unroute(/\/breakdown\?.*dimension=page(?:&|$)/);
    await panel.getByRole('button', { name: 'Try again' }).click();
    await panel.locator('.bar-row', { hasText: '/here' }).waitFor();
    expect(errors).toEqual([]);
  });

  // Without a GPU, the CPU draws each frame of an animation. One endless animation of a small circle used 15 % of a core.
  test('no animation of the overview is endless, neither while it loads nor when it is complete', async () => {
    const site = await browser.weir.client.createSite({ name: 'Still' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await browser.weir.client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const { page } = await openDashboard(browser);
    const endless = () =>
      page.evaluate('document.getAnimations().filter((one) => one.effect.getTiming().iterations === Infinity).length');
    await page.route('**/breakdown?*', () => undefined);
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    await page.locator('.skeleton').first().waitFor();
    expect(await endless()).toBe(0);
    await page.unroute('**/breakdown?*');
    await page.reload();
    await page.locator('[data-panel=bots] :is(.bar-row, .empty)').first().waitFor();
    await page.locator('.pulse').waitFor();
    expect(await endless()).toBe(0);
  });

  test('what is typed while a new goal is loaded stays in the form', async () => {
    const site = await browser.weir.client.createSite({ name: 'Goals in a row' });
    const { page } = await openDashboard(browser, `/sites/${site}/goals`);
    await page.getByText('This site has no goals yet.').waitFor();
    const conversions = await holdRequests(page, /\/conversions\?/);
    const value = page.getByLabel('Name of the event');
    const add = page.getByRole('button', { name: 'Add goal' });
    const added = page.waitForResponse((answer) => answer.url().endsWith('/goals') && answer.status() === 201);
    await value.fill('signup');
    await add.click();
    await added;
    await value.fill('purchase');
    await eventually('the conversions are requested', () => conversions.count() > 0);
    await conversions.release();
    await page.locator('[data-testid=goals] tbody tr', { hasText: 'signup' }).waitFor();
    await eventually('the next goal can be added', () => add.isEnabled());
    expect(await value.inputValue()).toBe('purchase');
  });

  test.each([
    ['api-keys', 'Name', 'Create key', /\/keys$/],
    ['viewers', 'Name of the viewer', 'Create viewer', /\/viewers$/],
    ['exclusions', 'Value', 'Add rule', /\/exclusions$/],
  ])('what is typed while the list of %s is loaded again stays in the form', async (id, label, action, url) => {
    const site = await browser.weir.client.createSite({ name: 'Lists in a row' });
    const { page } = await openDashboard(browser, `/sites/${site}/settings`);
    const section = page.locator(`section[aria-labelledby=${id}]`);
    await section.getByText('This site has no', { exact: false }).waitFor();
    const list = await holdRequests(page, url);
    const value = section.getByLabel(label, { exact: true });
    const add = section.getByRole('button', { name: action });
    const added = page.waitForResponse((answer) => answer.status() === 201);
    await value.first().fill('192.0.2.1');
    await add.click();
    await added;
    await value.first().fill('192.0.2.2');
    await eventually('the list is requested', () => list.count() > 0);
    await list.release();
    await section.locator('tbody tr', { hasText: '192.0.2.1' }).waitFor();
    await eventually('the next one can be added', () => add.isEnabled());
    expect(await value.first().inputValue()).toBe('192.0.2.2');
  });

  test('the form of a site shows the saved values, also if the request for the new values fails', async () => {
    const site = await browser.weir.client.createSite({ name: 'Saved' });
    const { page } = await openDashboard(browser);
    let isFailing = false;
    await page.route(new RegExp(`/admin/sites/${site}$`), (route) =>
      isFailing && route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/settings`);
    const section = page.locator('section[aria-labelledby=site-fields]');
    const domain = section.getByLabel('Domain');
    await domain.fill('saved.example');
    isFailing = true;
    await section.getByRole('button', { name: 'Save' }).click();
    await section.getByText('Saved.').waitFor();
    await section.getByRole('alert').filter({ hasText: 'Weir did not answer.' }).waitFor();
    expect(await domain.inputValue()).toBe('saved.example');
  });

  test('the bar of the reports shows an error if a segment cannot be removed, and no old number of visitors if the new one is unknown', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Bar' });
    const segment = { name: 'Mine', filters: ['page:is:/mine'] };
    expect((await client.admin('POST', `/sites/${site}/segments`, segment)).status).toBe(201);
    const { page } = await openDashboard(browser);
    await page.clock.install();
    let isFailing = false;
    await page.route(/\/(?:realtime\?|segments\/)/, (route) => (isFailing ? route.abort() : route.continue()));
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/goals?filter=page:is:/mine`);
    const bar = page.locator('.report-bar');
    await bar.getByText('0 visitors now').waitFor();
    isFailing = true;
    await bar.getByRole('button', { name: 'Segments' }).click();
    await page.getByRole('menuitem', { name: 'Remove Mine' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await bar.getByRole('alert').filter({ hasText: 'Weir did not answer.' }).waitFor();
    // Six minutes is the longest pause before the page repeats the request.
    await page.clock.fastForward('06:00');
    await bar.getByText('0 visitors now').waitFor({ state: 'detached' });
  });

  test('notes and segments that cannot be loaded say so, and can be tried again', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Notes' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    await client.must(201, 'POST', `/sites/${site}/annotations`, { at: new Date().toISOString(), text: 'Release' });
    await client.must(201, 'POST', `/sites/${site}/segments`, { name: 'Mine', filters: ['page:is:/mine'] });
    const { page } = await openDashboard(browser);
    const lists = /\/(?:annotations|segments)$/;
    await page.route(lists, (route) => route.abort());
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    const problem = (list: string) => page.getByRole('alert').filter({ hasText: `The ${list} cannot be loaded.` });
    await problem('notes').waitFor();
    await problem('segments').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.unroute(lists);
    await problem('notes').getByRole('button', { name: 'Try again' }).click();
    await page.locator('.chart-note', { hasText: 'Release' }).waitFor();
    await problem('segments').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Segments' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('a map that could not be loaded can be tried again', async () => {
    const site = await browser.weir.client.createSite({ name: 'Map' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await browser.weir.client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const { page } = await openDashboard(browser);
    let isFailing = true;
    await page.route(/\/assets\/countries-[^/]*\.json$/, (route) => (isFailing ? route.abort() : route.continue()));
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    await page.getByRole('tab', { name: 'Map' }).click();
    const problem = page.locator('[data-panel=places]').getByRole('alert').filter({ hasText: 'Weir did not answer.' });
    await problem.waitFor();
    isFailing = false;
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Visitors without a known country: 1').waitFor();
  });

  test('a page and a dialog are shown as soon as their code is loaded, without a timer', async () => {
    const site = await browser.weir.client.createSite({ name: 'At once' });
    const { page } = await openDashboard(browser);
    await page.clock.install();
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/settings`);
    await page.getByLabel('Domain').waitFor();
    // From now on, no timer of the page ends.
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('link', { name: 'Goals' }).click();
    await page.getByRole('heading', { name: 'Goals', level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  test('a page whose file could not be loaded is loaded when it is opened again, without a reload', async () => {
    const site = await browser.weir.client.createSite({ name: 'Stopped' });
    const { page } = await openDashboard(browser, `/sites/${site}/settings`);
    await page.getByLabel('Domain').waitFor();
    const file = /\/assets\/goals-page-[^/]*\.js$/;
    await page.route(file, (route) => route.abort());
    await page.getByRole('link', { name: 'Goals' }).click();
    await page.getByRole('alert').filter({ hasText: 'Weir was updated or does not answer' }).waitFor();
    await page.unroute(file);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Domain').waitFor();
    await page.getByRole('link', { name: 'Goals' }).click();
    await page.getByRole('button', { name: 'Add goal' }).waitFor();
  });

  test('a page whose file is missing after an upgrade says so, and can be loaded again; the other pages work', async () => {
    const site = await browser.weir.client.createSite({ name: 'Upgraded' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await browser.weir.client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const { page } = await openDashboard(browser);
    const file = /\/assets\/settings-page-[^/]*\.js$/;
    await page.route(file, (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    await page.waitForSelector('[data-metric=visitors]');
    await page.getByRole('link', { name: 'Settings' }).click();
    const problem = page
      .getByRole('alert')
      .filter({ hasText: 'Weir was updated or does not answer, or the page failed.' });
    await problem.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.waitForSelector('[data-metric=visitors]');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.unroute(file);
    await problem.getByRole('button', { name: 'Reload' }).click();
    await page.getByLabel('Domain').waitFor();
  });
});
