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
});
