import { eventually } from '@weir/testkit/eventually';
import { holdRequests, openDashboard, typeGerman, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';

describeBrowser('the filters of the dashboard', () => {
  const browser = useBrowser();

  test('a filter on what visitors have done suggests values, and is shown as a sentence', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Done' });
    const sent = [
      { visitor_id: 'ann', type: 'pageview', url: 'https://example.com/' },
      { visitor_id: 'ann', type: 'event', event_name: 'Signup', url: 'https://example.com/' },
      { visitor_id: 'bob', type: 'pageview', url: 'https://example.com/' },
      { visitor_id: 'cat', type: 'pageview', url: 'https://example.com/pricing' },
    ];
    for (const hit of sent) {
      await client.collect({ site_id: site, session_id: `s-${hit.visitor_id}`, ...hit }, { 'user-agent': FIREFOX });
    }
    await browser.rows(site, sent.length);
    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview`);
    const visitors = (count: string) =>
      eventually(`${count} visitors`, async () => (await page.textContent('[data-metric=visitors]')) === count);
    await visitors('3');

    await page.keyboard.press('f');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What').selectOption('Has done event');
    await dialog.getByText('Selects visitors by what they have done in the period.').waitFor();
    // The dialog suggests the events of the period.
    await dialog.locator('datalist option[value=Signup]').waitFor({ state: 'attached' });
    await dialog.getByLabel('Condition').selectOption('is not');
    await dialog.getByLabel('Value').fill('Signup');
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Apply filter' }).click();
    await visitors('2');
    await page.locator('.chip', { hasText: 'Has not done event: Signup' }).waitFor();

    await page.keyboard.press('f');
    await dialog.getByLabel('What').selectOption('Has viewed page');
    await dialog.getByRole('button', { name: 'Apply filter' }).click();
    // An empty value is not sent.
    expect(await page.locator('.chip').count()).toBe(1);
    await dialog.getByLabel('Value').fill('/pricing');
    await dialog.getByRole('button', { name: 'Apply filter' }).click();
    await visitors('1');
    await page.locator('.chip', { hasText: 'Has viewed page: /pricing' }).waitFor();

    await page.getByRole('button', { name: 'Last 30 days' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Count bots too' }).click();
    await page.locator('.chip', { hasText: 'Bots are counted' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('a path with letters that a URL must escape is shown and filtered as people write it', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Umlauts' });
    for (const [visitor, path] of ['Über uns', ''].entries()) {
      const hit = { visitor_id: `v${visitor}`, session_id: `s${visitor}`, type: 'pageview' };
      const { href } = new URL(path, 'https://example.com/');
      await client.collect({ site_id: site, ...hit, url: href }, { 'user-agent': FIREFOX });
    }
    await browser.rows(site, 2);
    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview?period=7d`);
    await page.locator('[data-panel=pages] .bar-row', { hasText: '/Über uns' }).waitFor();
    await page.keyboard.press('f');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Value').fill('/Über uns');
    await dialog.getByRole('button', { name: 'Apply filter' }).click();
    await eventually('1 visitor', async () => (await page.textContent('[data-metric=visitors]')) === '1');
    expect(await page.locator('.chip').allTextContents()).toEqual([expect.stringMatching(/^Page is \/Über uns/)]);

    // The label of the last day is not cut off: the chart has no ink in the last columns of pixels.
    const ink = await page.evaluate<boolean>(`(() => {
      const canvas = document.querySelector('.chart canvas');
      const { data } = canvas.getContext('2d').getImageData(canvas.width - 3, 0, 3, canvas.height);
      return data.some((value, index) => index % 4 === 3 && value > 0);
    })()`);
    expect(ink).toBe(false);

    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/realtime`);
    await page.getByRole('region', { name: 'Pages' }).getByText('/Über uns').waitFor();
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/journeys?page=%2F%25C3%259Cber%2520uns`);
    await page.getByText('/Über uns has 1 view').waitFor();
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/journeys`);
    await page.getByLabel('Page', { exact: true }).fill('/Über uns');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('/Über uns has 1 view').waitFor();
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/goals`);
    await page.getByLabel('Kind').selectOption('Page');
    await page.getByLabel('Page; *').fill('/Über*');
    await page.getByRole('button', { name: 'Add goal' }).click();
    const goal = page.locator('[data-testid=goals] tbody tr', { hasText: '/Über*' });
    await goal.getByText('50%').waitFor();
    // The page has no comparison, so its key does not change the address.
    await page.keyboard.press('x');
    expect(await page.evaluate('location.search')).toBe('');
    expect(errors).toEqual([]);
  });

  test('a filter on a language waits for the languages of the period, because several can have the typed name', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Languages' });
    const hit = {
      visitor_id: 'ann',
      session_id: 's',
      type: 'pageview',
      url: 'https://example.com/',
      language: 'de-DE',
    };
    await client.collect({ site_id: site, ...hit }, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const { page, errors } = await openDashboard(browser);
    const all = /\/breakdown\?.*dimension=language.*limit=1000/;
    const languages = await holdRequests(page, all);
    const dialog = await typeGerman(page, `${browser.weir.url}/dashboard/sites/${site}/overview`);
    await eventually('the languages are requested', () => languages.count() > 0);
    const apply = dialog.getByRole('button', { name: 'Apply filter' });
    expect(await apply.isDisabled()).toBe(true);
    await languages.release();
    await apply.click();
    await page.locator('.chip', { hasText: 'Language is' }).waitFor();
    expect(new URL(page.url()).searchParams.getAll('filter')).toEqual(['language:is:de-DE']);
    expect(errors).toEqual([]);
  });

  test('a filter on a language is not added while the languages of the period are not known', async () => {
    const site = await browser.weir.client.createSite({ name: 'Unknown languages' });
    const hit = { visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/', language: 'de-DE' };
    await browser.weir.client.collect({ site_id: site, ...hit }, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const { page } = await openDashboard(browser);
    let isFailing = true;
    await page.route(/\/breakdown\?.*dimension=language.*limit=1000/, (route) =>
      isFailing ? route.abort() : route.continue(),
    );
    const dialog = await typeGerman(page, `${browser.weir.url}/dashboard/sites/${site}/overview`);
    const problem = dialog.getByRole('alert').filter({ hasText: 'Weir did not answer.' });
    await problem.waitFor();
    const apply = dialog.getByRole('button', { name: 'Apply filter' });
    expect(await apply.isDisabled()).toBe(true);
    isFailing = false;
    await problem.getByRole('button', { name: 'Try again' }).click();
    await apply.click();
    await page.locator('.chip', { hasText: 'Language is' }).waitFor();
    expect(new URL(page.url()).searchParams.getAll('filter')).toEqual(['language:is:de-DE']);
  });

  test('with 20 filters, a click on a bar adds no filter, and the page says why', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Full' });
    const hit = { visitor_id: 'ann', session_id: 's', type: 'pageview', url: 'https://example.com/pricing' };
    await client.collect({ site_id: site, ...hit }, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const dimensions = 'country region city language browser os device source channel referrer'.split(' ');
    const filters = dimensions.flatMap((name) => [`${name}:is_not:zz`, `${name}:contains_not:zz`]);
    const query = filters.map((filter) => `filter=${encodeURIComponent(filter)}`).join('&');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview?${query}`);
    const full = page.getByText('There can be at most 20 filters. Remove one first.');
    await full.waitFor();
    await page.getByRole('button', { name: '/pricing' }).first().click();
    await eventually('the focus', () => full.evaluate((element) => element.matches(':focus')));
    expect(new URL(page.url()).searchParams.getAll('filter')).toEqual(filters);
    expect(await violationsOf(page)).toEqual([]);

    await page.getByRole('button', { name: 'Remove the filter on' }).first().click();
    await full.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: '/pricing' }).first().click();
    await page.locator('.chip', { hasText: '/pricing' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('a name with spaces is typed into a dialog without a click, and the focus returns to the menu that opened it', async () => {
    const { client } = browser.weir;
    const siteId = await client.createSite();
    await client.collect({ site_id: siteId, type: 'pageview', visitor_id: 'v', session_id: 's', pathname: '/a' });
    await client.settled();
    const { page, errors } = await openDashboard(browser, `/sites/${siteId}/overview?filter=page:is:/a`);
    const menu = page.getByRole('button', { name: 'Segments' });
    const hasFocus = (): Promise<boolean> => menu.evaluate((element) => element.matches(':focus'));
    await menu.click();
    await page.getByRole('menuitem', { name: 'Save these filters' }).click();
    const field = page.getByLabel('Name of the segment');
    await eventually('the field has the focus', () => field.evaluate((element) => element.matches(':focus')));
    await page.keyboard.type('Readers of a');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually('the focus is on the menu', hasFocus);
    const segments = await client.must(200, 'GET', `/sites/${siteId}/segments`);
    expect(JSON.stringify(segments)).toContain('"name":"Readers of a"');
    await menu.click();
    await page.getByRole('menuitem', { name: 'Remove Readers of a' }).click();
    const question = page.getByRole('dialog', { name: 'Remove the segment "Readers of a"?' });
    await question.getByRole('button', { name: 'Remove' }).press('Enter');
    await question.waitFor({ state: 'detached' });
    await eventually('the focus is on the menu', hasFocus);
    await eventually('the segment is removed', async () => {
      const left = await client.must(200, 'GET', `/sites/${siteId}/segments`);
      return JSON.stringify(left) === '[]';
    });
    await page.getByRole('button', { name: 'Remove the filter on Page' }).press('Enter');
    const filter = page.getByRole('button', { name: 'Filter', exact: true });
    await eventually('the focus is on the button for filters', () =>
      filter.evaluate((element) => element.matches(':focus')),
    );
    expect(errors).toEqual([]);
  });

  test('a link to another page of the site keeps the period and the filters', async () => {
    const site = await browser.weir.client.createSite({ name: 'Kept' });
    const { page, errors } = await openDashboard(
      browser,
      `/sites/${site}/overview?period=7d&filter=page:is:/a&metric=visits`,
    );
    await page.getByRole('link', { name: 'Goals' }).click();
    await page.getByRole('heading', { name: 'Goals', level: 1 }).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Last 7 days' }).waitFor();
    await page.locator('.chip', { hasText: '/a' }).waitFor();
    const kept = '?period=7d&filter=page%3Ais%3A%2Fa';
    expect(await page.evaluate('location.search')).toBe(kept);
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('searchbox').fill('ada');
    await page.waitForFunction('location.hash === "#search=ada"');
    expect(await page.evaluate('location.search')).toBe(kept);
    expect(errors).toEqual([]);
  });

  test('retention shows months if the period has more than 60 weeks', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Years' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const year = new Date().getFullYear();
    const { page } = await openDashboard(browser, `/sites/${site}/retention?from=${year - 2}-01-01&to=${year}-12-31`);
    await page.locator('.cohorts tbody tr').first().waitFor();
    expect(await page.locator('.cohorts tbody td').first().textContent()).toBe('1');
    expect(await page.getByLabel('Cohorts by').inputValue()).toBe('month');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('on a phone, Escape closes the menu and keeps the filters, and a second Escape removes them', async () => {
    const site = await browser.weir.client.createSite({ name: 'Narrow' });
    const phone = { viewport: { width: 360, height: 740 } };
    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview?filter=page:is:/a`, phone);
    await page.locator('.chip').waitFor();
    const menu = page.getByRole('button', { name: 'Menu', exact: true });
    await menu.click();
    await page.getByRole('link', { name: 'Retention' }).focus();
    await page.keyboard.press('Escape');
    expect(await menu.getAttribute('aria-expanded')).toBe('false');
    expect(await menu.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await page.locator('.chip').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.locator('.chip').waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  test('a long path in a filter or in the journeys does not make the page wider', async () => {
    const site = await browser.weir.client.createSite({ name: 'Long' });
    const { page, errors } = await openDashboard(browser, '', { viewport: { width: 360, height: 740 } });
    const path = `/${'long'.repeat(100)}`;
    for (const [address, shown] of [
      [`overview?filter=page:is:${path}`, '.chip-text'],
      [`journeys?page=${path}`, '.panel-head p'],
      [`../${path.slice(1)}`, '.empty-title'],
    ] as const) {
      await page.goto(`${browser.weir.url}/dashboard/sites/${site}/${address}`);
      const text = page.locator(shown, { hasText: path.slice(1) });
      await text.waitFor();
      // A filter that is cut off has its whole value as its tooltip.
      if (shown === '.chip-text') expect(await text.getAttribute('title')).toBe(path);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
    expect(errors).toEqual([]);
  });
});
