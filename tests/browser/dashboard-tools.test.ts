import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { offered, openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';
const MARKUP = `<img src=x onerror="document.title='broken'"> & <b>"O'Brien"</b>`;

describeBrowser('realtime, goals, funnels, retention, journeys and settings in the dashboard', () => {
  const browser = useBrowser();

  /** Creates a site with two visitors: one views two pages and signs up, the other one views only the first page. */
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

  /** Opens the explanation of the report, and checks that it has the definition and the SQL. */
  async function expectExplained(page: Page, definition: RegExp): Promise<void> {
    await page.getByRole('button', { name: 'Explain' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(definition).waitFor();
    await dialog.locator('pre', { hasText: 'SELECT' }).first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }

  test('realtime shows the visitors of the last minutes, and a record as soon as it is stored', async () => {
    const site = await siteWithVisits('Realtime');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/realtime`);
    await eventually('the visitors', async () => (await page.textContent('[data-testid=now-visitors]')) === '2');
    await expectExplained(page, /in the last 5 or 30 minutes/);
    const live = page.locator('[data-testid=live]');
    await live.getByText('Waiting for the next record').waitFor();
    const hit = { site_id: site, visitor_id: 'v3', session_id: 's3', type: 'event', event_name: MARKUP };
    await eventually('the record', async () => {
      await browser.weir.client.collect({ ...hit, url: 'https://example.com/' }, { 'user-agent': FIREFOX });
      return (await live.locator('.live-list summary', { hasText: MARKUP }).count()) > 0;
    });
    await live.locator('.live-list summary').first().click();
    // The opened record may not be the first one any more, because newer records appear above it.
    await live.locator('details[open] .fields dd', { hasText: 'Firefox' }).first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('a goal that is added counts its conversions and can be removed', async () => {
    const site = await siteWithVisits('Goals');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/goals`);
    await page.getByLabel('Name of the event').focus();
    await eventually('the events are offered', async () => (await offered(page)).includes(MARKUP));
    await page.getByLabel('Name of the event').fill(MARKUP);
    const add = page.getByRole('button', { name: 'Add goal' });
    await add.click();
    const row = page.locator('[data-testid=goals] tbody tr');
    await row.filter({ hasText: MARKUP }).filter({ hasText: '50%' }).waitFor();
    await eventually('the focus', () => add.evaluate((element) => element.matches(':focus')));
    expect(await violationsOf(page)).toEqual([]);
    await expectExplained(page, /Conversions are the rows/);
    await row.getByRole('button', { name: /Remove/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('This site has no goals yet.').waitFor();
    expect(errors).toEqual([]);
  });

  test('a funnel that is saved and opened by a viewer, cohorts and journeys show the same visitors', async () => {
    const site = await siteWithVisits('Paths');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/funnels`);
    await page.getByLabel('Value of step 2').fill(MARKUP);
    await page.getByRole('button', { name: 'Show funnel' }).click();
    await page.locator('.funnel li').nth(1).filter({ hasText: MARKUP }).waitFor();
    expect(await page.locator('.funnel-number').allTextContents()).toEqual([
      '2 visitors',
      '1 visitor (1 left before it, 50% continued)',
    ]);
    expect(await violationsOf(page)).toEqual([]);

    await expectExplained(page, /A visitor reaches a step/);
    await page.getByLabel('Longest time from the first to the last step').selectOption({ label: '24 hours' });
    await page.getByRole('button', { name: 'Show funnel' }).click();
    await page.getByRole('button', { name: 'Save funnel' }).click();
    await page.getByLabel('Name of the funnel').fill(MARKUP);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const saved = page.locator('[data-testid=saved-funnels] tbody tr');
    await saved
      .filter({ hasText: `Page / → Event ${MARKUP}` })
      .filter({ hasText: '24 hours' })
      .waitFor();
    await page.getByRole('button', { name: 'Save funnel' }).waitFor({ state: 'detached' });
    expect(await violationsOf(page)).toEqual([]);
    const { token } = (await browser.weir.client.must(201, 'POST', `/sites/${site}/viewers`, { name: 'Ada' })) as {
      token: string;
    };
    const viewer = await openDashboard(browser, `/sites/${site}/funnels`, {}, token);
    await viewer.page.getByText('Choose two or more steps.').waitFor();
    await viewer.page.locator('[data-testid=saved-funnels]').getByRole('link', { name: MARKUP }).click();
    await viewer.page.getByRole('heading', { name: MARKUP }).waitFor();
    await viewer.page.locator('.funnel-number', { hasText: /1 visitor(?!s)/ }).waitFor();
    expect(await viewer.page.getByLabel('Value of step 2').inputValue()).toBe(MARKUP);
    expect(await viewer.page.getByRole('button', { name: /Remove|Save/ }).count()).toBe(0);
    expect(viewer.errors).toEqual([]);
    await saved.getByRole('button', { name: /Remove/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await saved.waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Retention' }).click();
    await page.locator('.cohorts tbody tr').first().waitFor();
    expect(await page.locator('.cohorts tbody td').first().textContent()).toBe('2');
    await expectExplained(page, /A cohort is all visitors/);
    expect(await violationsOf(page)).toEqual([]);

    await page.getByRole('link', { name: 'Journeys' }).click();
    await page.locator('[data-testid=next] .bar-row', { hasText: '/pricing' }).click();
    await page.getByText('/pricing has 1 view in 1 visit.').waitFor();
    await expectExplained(page, /The pages that visits viewed/);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('settings change the site, test a rule, and create a viewer who sees the reports of this site only', async () => {
    const { client } = browser.weir;
    const site = await siteWithVisits('Before');
    const { page, errors } = await openDashboard(browser, `/sites/${site}/settings`);
    // Another card also has a field `Name`, which is the only one while the form of the site is loading. So the test selects the section of the form.
    const fields = page.locator('section', { has: page.locator('#site-fields') });
    await fields.getByLabel('Name', { exact: true }).fill('After');
    await page.getByLabel('Events', { exact: true }).fill('400d');
    // Another administrator changes the site while the form is open.
    await client.must(200, 'PATCH', `/sites/${site}`, { domain: 'other.example.com', keep: { profiles: '3y' } });
    await page.getByRole('button', { name: 'Save' }).click();
    // A shorter retention removes rows, so the page asks first.
    const question = page.getByRole('dialog', { name: 'Remove older rows?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await client.must(200, 'GET', `/sites/${site}`)).toMatchObject({ name: 'Before' });
    await page.getByRole('button', { name: 'Save' }).click();
    await question.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await client.must(200, 'GET', `/sites/${site}`)).toMatchObject({
      name: 'After',
      domain: 'other.example.com',
      keep: { events: '400d', profiles: '3y' },
    });
    await eventually('the form shows the change', async () => {
      return (await fields.getByLabel('Domain').inputValue()) === 'other.example.com';
    });
    await page.getByLabel('Events', { exact: true }).fill('500d');
    await page.getByText('Saved.').waitFor({ state: 'detached' });

    const rules = page.locator('section', { has: page.locator('#exclusions') });
    await rules.getByLabel('Value').fill('203.0.113.0/24');
    await rules.getByRole('button', { name: 'Add rule' }).click();
    await rules.locator('[data-testid=rules]').waitFor();
    await rules.getByText('Which rule would drop a hit?').click();
    await rules.locator('details').getByLabel('Address or network').fill('203.0.113.7');
    await rules.getByRole('button', { name: 'Test' }).click();
    await rules.getByText('Dropped by: Address or network 203.0.113.0/24').waitFor();

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
    await write(
      `SELECT number AS item, concat('name ', toString(number)) AS label, number * 2 AS twice FROM numbers(3) `,
    );
    await editor.press('Control+Enter');
    await page.locator('[data-testid=sql-result] td', { hasText: 'name 2' }).waitFor();
    await page.getByRole('button', { name: 'Chart' }).click();
    const bars = page.locator('[data-testid=sql-chart]');
    await bars.getByLabel('Length of the bars').selectOption('twice');
    expect(await bars.locator('.bar-row').allTextContents()).toEqual(['name 00', 'name 12', 'name 24']);
    const widths = bars
      .locator('.bar')
      .evaluateAll((all) => all.map((bar) => (bar as { style?: { width: string } }).style?.width));
    expect(await widths).toEqual(['0%', '50%', '100%']);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await page.getByRole('button', { name: 'Chart' }).click();

    await write('SELECT sum(cityHash64(number)) FROM numbers(100000000000) ');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/admin/sql')) sent.push(request.postData() ?? '');
    });
    await editor.press('Control+Enter');
    await page.getByText('This takes longer than a second.').waitFor();
    // The keys start no second statement while one runs.
    await editor.press('Control+Enter');
    // Cancelling closes the connection of the request. The role control then cancels the query.
    const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/admin/sql'));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('This takes longer than a second.').waitFor({ state: 'detached' });
    await aborted;
    expect(sent).toHaveLength(1);

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

  test('the history of SQL stays in the browser without keys, until it is cleared or the reader signs out', async () => {
    const { page, errors } = await openDashboard(browser, '/sql');
    const editor = page.getByRole('textbox', { name: 'Statement' });
    const run = async (text: string) => {
      await editor.press('Control+a');
      await editor.pressSequentially(text);
      await editor.press('Control+Enter');
      await page.locator('[data-testid=sql-result] th', { hasText: text.split(' AS ')[1]?.trim() ?? '' }).waitFor();
    };
    const past = async () => {
      await page.getByRole('button', { name: 'History' }).click();
      return page.getByRole('menuitem').allTextContents();
    };
    await run("SELECT '<b>first</b>' AS first ");
    await run("SELECT 'wk_abcdefghijklmnop' AS secret ");
    await run('SELECT 2 AS second ');
    await run('SELECT 1 AS third ');
    await run('SELECT 2 AS second ');
    await page.reload();
    expect(await past()).toEqual([
      ...['SELECT 2 AS second', 'SELECT 1 AS third', "SELECT '<b>first</b>' AS first", 'Clear the history'],
    ]);
    await page.getByRole('menuitem', { name: 'SELECT 1 AS third' }).click();
    await eventually('the statement', async () => (await editor.textContent()) === 'SELECT 1 AS third');
    expect(await violationsOf(page)).toEqual([]);
    await past();
    await page.getByRole('menuitem', { name: 'Clear the history' }).click();
    await page.getByRole('button', { name: 'History' }).waitFor({ state: 'detached' });
    expect(await page.evaluate('localStorage.length')).toBe(0);

    await run(`SELECT '${'x'.repeat(200)}' AS fourth `);
    expect(await page.evaluate('localStorage.length')).toBe(1);
    // A long statement does not make the menu wider than the page.
    await past();
    expect((await page.getByRole('menu').boundingBox())?.width).toBeLessThanOrEqual(480);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    // This check must be before the sign-out: after it, the browser can report requests with the answer 401.
    expect(errors).toEqual([]);
    await page.getByRole('button', { name: 'Administrator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('Admin or viewer token').waitFor();
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });
});
