import { eventually } from '@weir/testkit/eventually';
import { openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';
const MARKUP = `<img src=x onerror="document.title='broken'"> & <b>"O'Brien"</b>`;

describeBrowser('realtime, goals, funnels, retention, journeys and settings in the dashboard', () => {
  const browser = useBrowser();

  /** A site with a visitor who views two pages and signs up, and one who views the first page. */
  async function siteWithVisits(name: string): Promise<string> {
    const { client } = browser.weir;
    const site = await client.createSite({ name });
    const send = async (visitor: string, path: string, more: object = {}) => {
      const hit = { site_id: site, visitor_id: visitor, session_id: `s${visitor}`, type: 'pageview' };
      await client.collect({ ...hit, url: `https://example.com${path}`, ...more }, { 'user-agent': FIREFOX });
    };
    await send('v1', '/');
    await send('v1', '/pricing');
    await send('v1', '/pricing', { type: 'event', event_name: MARKUP });
    await send('v2', '/');
    await browser.rows(site, 4);
    return site;
  }

  test('realtime shows the visitors of the last minutes, and a record as soon as it is stored', async () => {
    const site = await siteWithVisits('Realtime');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/realtime`);
    await eventually('the visitors', async () => (await page.textContent('[data-testid=now-visitors]')) === '2');
    const live = page.locator('[data-testid=live]');
    await live.getByText('Waiting for the next record').waitFor();
    const hit = { site_id: site, visitor_id: 'v3', session_id: 's3', type: 'event', event_name: MARKUP };
    await eventually('the record', async () => {
      await browser.weir.client.collect({ ...hit, url: 'https://example.com/' }, { 'user-agent': FIREFOX });
      return (await live.locator('.live-list summary', { hasText: MARKUP }).count()) > 0;
    });
    await live.locator('.live-list summary').first().click();
    // Searches for the text, because a newer record may be shown above this one.
    await live.locator('details[open] .fields dd', { hasText: 'Firefox' }).first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('a goal that is added counts its conversions and can be removed', async () => {
    const site = await siteWithVisits('Goals');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/goals`);
    await page.getByLabel('Name of the event').fill(MARKUP);
    await page.getByRole('button', { name: 'Add goal' }).click();
    const row = page.locator('[data-testid=goals] tbody tr');
    await row.filter({ hasText: MARKUP }).filter({ hasText: '50%' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await row.getByRole('button', { name: /Remove/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('This site has no goals yet.').waitFor();
    expect(errors).toEqual([]);
  });

  test('a funnel, cohorts and journeys show the same visitors', async () => {
    const site = await siteWithVisits('Paths');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/funnels`);
    await page.getByLabel('Value of step 2').fill(MARKUP);
    await page.getByRole('button', { name: 'Show funnel' }).click();
    await page.locator('.funnel li').nth(1).filter({ hasText: MARKUP }).waitFor();
    expect(await page.locator('.funnel-number').allTextContents()).toEqual([
      '2 visitors',
      '1 visitors (1 left before it, 50% continued)',
    ]);
    expect(await violationsOf(page)).toEqual([]);

    await page.getByRole('link', { name: 'Retention' }).click();
    await page.locator('.cohorts tbody tr').first().waitFor();
    expect(await page.locator('.cohorts tbody td').first().textContent()).toBe('2');
    expect(await violationsOf(page)).toEqual([]);

    await page.getByRole('link', { name: 'Journeys' }).click();
    await page.locator('[data-testid=next] .bar-row', { hasText: '/pricing' }).click();
    await page.getByText('/pricing has 1 views in 1 visits.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('settings change the site, test a rule, and create a viewer who sees the reports of this site only', async () => {
    const { client } = browser.weir;
    const site = await siteWithVisits('Before');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/settings`);
    // While the form of the site is loading, another card has the only field `Name`.
    const fields = page.locator('section', { has: page.locator('#site-fields') });
    await fields.getByLabel('Name', { exact: true }).fill('After');
    await page.getByLabel('Events', { exact: true }).fill('400d');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await client.must(200, 'GET', `/sites/${site}`)).toMatchObject({ name: 'After', keep: { events: '400d' } });

    const rules = page.locator('section', { has: page.locator('#exclusions') });
    await rules.getByLabel('Value').fill('203.0.113.0/24');
    await rules.getByRole('button', { name: 'Add rule' }).click();
    await rules.locator('[data-testid=rules]').waitFor();
    await rules.getByText('Which rule would drop a hit?').click();
    await rules.locator('details').getByLabel('Address or network').fill('203.0.113.7');
    await rules.getByRole('button', { name: 'Test' }).click();
    await rules.getByText('Dropped by: ip 203.0.113.0/24').waitFor();

    await page.getByLabel('Name of the viewer').fill(MARKUP);
    await page.getByRole('button', { name: 'Create viewer' }).click();
    const token = (await page.locator('[data-testid=new-viewer] pre').textContent()) ?? '';
    await page.locator('[data-testid=viewers] tbody tr', { hasText: MARKUP }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);

    const viewer = await openDashboard(browser, '', {}, token);
    await viewer.page.locator('.report-site', { hasText: 'After' }).waitFor();
    await viewer.page.waitForSelector('[data-metric=visitors]');
    expect(await viewer.page.locator('#navigation .nav-item').allTextContents()).toEqual([
      'Overview',
      'Realtime',
      'Goals',
      'Funnels',
      'Retention',
      'Journeys',
    ]);
    await viewer.page.goto(`${browser.weir.url}/dashboard/sites/${site}/settings`);
    await viewer.page.getByText('There is no page at this address.').waitFor();
    await viewer.page.goto(`${browser.weir.url}/dashboard/sites/demo/overview`);
    await viewer.page.getByText('There is no site demo').waitFor();
    expect(viewer.errors).toEqual([]);
  });

  test('SQL is completed and run, and its result is shown as text; filters are saved as a segment', async () => {
    const site = await siteWithVisits('SQL');
    const { page, errors } = await openDashboard(browser, '/sql');
    const editor = page.getByRole('textbox', { name: 'Statement' });
    const write = async (text: string) => {
      await editor.press('Control+a');
      await editor.pressSequentially(text);
    };
    await write(`SELECT event_name FROM events WHERE site_id = '${site}' AND type = 'event' `);
    await editor.press('Control+Enter');
    await page.locator('[data-testid=sql-result] td', { hasText: MARKUP }).waitFor();
    expect(errors).toEqual([]);
    expect(await violationsOf(page)).toEqual([]);
    await write('SELECT wrong FROM events ');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').filter({ hasText: 'wrong' }).waitFor();

    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview?filter=page:is:/pricing`);
    await page.getByRole('button', { name: 'Segments' }).click();
    await page.getByRole('menuitem', { name: 'Save these filters' }).click();
    await page.getByLabel('Name of the segment').fill(MARKUP);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    await page.getByRole('button', { name: 'Segments' }).click();
    await page.getByRole('menuitemradio', { name: MARKUP }).click();
    await page.locator('.chip', { hasText: '/pricing' }).waitFor();
  });
});
