import { eventually } from '@weir/testkit/eventually';
import { openDashboard, violationsOf } from './dashboard-page.ts';
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
    // The suggestions are the events of the period.
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
    expect(errors).toEqual([]);
  });
});
