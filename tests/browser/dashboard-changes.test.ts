import { eventually } from '@weir/testkit/eventually';
import type { Locator, Page, Request, Route } from 'playwright-core';
import { holdRequests, openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';
/** Less than the pause after which the page repeats a slow request by itself. */
const LIST_WITHIN_MS = 30_000;

describeBrowser('the dashboard after a change', () => {
  const browser = useBrowser();

  async function openPage(name: string): Promise<{ readonly page: Page; readonly site: string }> {
    const site = await browser.weir.client.createSite();
    const { page } = await openDashboard(browser, `/sites/${site}/${name}`);
    return { page, site };
  }

  const expectFocus = (control: Locator): Promise<void> =>
    eventually('the focus', () => control.evaluate((element) => element.matches(':focus')));
  const confirm = (page: Page, action: string): Promise<void> =>
    page.getByRole('dialog').getByRole('button', { name: action, exact: true }).press('Enter');

  test('a retention that was confirmed returns the focus to the button', async () => {
    const { page } = await openPage('settings');
    const section = page.locator('section[aria-labelledby=site-fields]');
    await section.getByLabel('Events', { exact: true }).fill('400d');
    const save = section.getByRole('button', { name: 'Save' });
    await save.press('Enter');
    await confirm(page, 'Save');
    await section.getByText('Saved.').waitFor();
    await expectFocus(save);
  });

  test('the button of the identity secret keeps the focus, and the heading gets it when the secret is removed', async () => {
    const { page } = await openPage('settings');
    const identity = page.locator('[data-testid=identity]');
    const button = (name: string): Locator => identity.getByRole('button', { name, exact: true });
    await button('Create secret').press('Enter');
    await expectFocus(button('Require signatures'));
    await button('Require signatures').press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Require signatures' }).focus();
    const changes: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') changes.push(request.postData() ?? '');
    });
    await page.keyboard.down('Enter');
    await expectFocus(button('Do not require signatures'));
    // The key is still held, so the browser repeats it.
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    // The browser reports requests in their order. When this one is answered, `changes` contains all requests before it.
    expect(await page.evaluate(`fetch('/api/admin/session').then(({ status }) => status)`)).toBe(200);
    expect(changes).toHaveLength(1);
    await button('Do not require signatures').press('Enter');
    await expectFocus(button('Require signatures'));
    await button('Remove secret').press('Enter');
    await confirm(page, 'Remove secret');
    await button('Create secret').waitFor();
    await expectFocus(page.getByRole('heading', { name: 'Identity verification' }));
  });

  test('when a row is removed, the heading of its list gets the focus', async () => {
    const { client } = browser.weir;
    const { page, site } = await openPage('settings');
    await client.must(201, 'POST', `/sites/${site}/viewers`, { name: 'Ada' });
    await client.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'path', value: '/internal' });
    await client.must(201, 'POST', `/sites/${site}/goals`, { type: 'event', value: 'signup' });
    for (const name of ['Paid', 'Free']) {
      await client.must(201, 'POST', `/sites/${site}/funnels`, { name, steps: ['page:/', `event:${name}`] });
    }
    await page.reload();
    for (const [row, list] of [
      ['Ada', 'Viewers'],
      ['/internal', 'Exclusion rules'],
    ] as const) {
      const remove = page.getByRole('button', { name: `Remove ${row}` });
      await remove.press('Enter');
      expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter');
      await expectFocus(remove);
      await remove.press('Enter');
      await confirm(page, 'Remove');
      await remove.waitFor({ state: 'detached' });
      await expectFocus(page.getByRole('heading', { name: list, exact: true }));
    }
    for (const [name, row, heading] of [
      ['goals', 'signup', '#goals'],
      ['funnels', 'Paid', '#saved-funnels'],
      // The last one
      ['funnels', 'Free', '#saved-funnels'],
    ] as const) {
      await page.goto(`${browser.weir.url}/dashboard/sites/${site}/${name}`);
      const remove = page.getByRole('button', { name: `Remove ${row}` });
      await remove.press('Enter');
      await confirm(page, 'Remove');
      await remove.waitFor({ state: 'detached' });
      await expectFocus(page.locator(heading));
    }
  });

  test('when a note is removed or moved, the button for a new note gets the focus', async () => {
    const { client } = browser.weir;
    const { page, site } = await openPage('overview');
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    for (const text of ['Release', 'Outage'])
      await client.must(201, 'POST', `/sites/${site}/annotations`, { at: new Date().toISOString(), text });
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/overview`);
    const note = (text: string): Locator => page.locator('.chart-note', { hasText: text });
    const add = page.getByRole('button', { name: 'Add note' });
    const form = page.getByRole('dialog', { name: 'Edit note' });
    await note('Release').press('Enter');
    await form.getByLabel('Date').fill('2001-02-03');
    await form.getByRole('button', { name: 'Save' }).press('Enter');
    await note('Release').waitFor({ state: 'detached' });
    await expectFocus(add);
    await note('Outage').press('Enter');
    const question = page.getByRole('dialog', { name: 'Remove this note?' });
    await form.getByRole('button', { name: 'Remove' }).press('Enter');
    await question.getByRole('button', { name: 'Remove' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expectFocus(form.getByRole('button', { name: 'Remove' }));
    await form.getByRole('button', { name: 'Remove' }).press('Enter');
    await question.getByRole('button', { name: 'Remove' }).press('Enter');
    await note('Outage').waitFor({ state: 'detached' });
    await form.waitFor({ state: 'detached' });
    await expectFocus(add);
  });

  test('when a step of a funnel is removed, and when a site cannot be removed, the focus stays near', async () => {
    const { page, site } = await openPage('funnels');
    const add = page.getByRole('button', { name: 'Add step' });
    await add.press('Enter');
    await page.getByRole('button', { name: 'Remove step 3' }).press('Enter');
    await page.getByRole('button', { name: 'Remove step 3' }).waitFor({ state: 'detached' });
    await expectFocus(add);
    await page.route(new RegExp(`/admin/sites/${site}$`), (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    );
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/settings`);
    const section = page.locator('section[aria-labelledby=remove-site]');
    await section.getByRole('button', { name: 'Remove site' }).press('Enter');
    await confirm(page, 'Remove site');
    await section.getByRole('alert').filter({ hasText: 'Weir did not answer.' }).waitFor();
    await expectFocus(section.getByRole('heading'));
  });

  test('the result of a test of the exclusion rules goes away when the tested hit is changed', async () => {
    const { page } = await openPage('settings');
    await page.getByText('Which rule would drop a hit?').click();
    const box = page.locator('details', { hasText: 'Which rule would drop a hit?' });
    await box.getByLabel('Page').fill('/public');
    await box.getByRole('button', { name: 'Test' }).click();
    await box.getByText('No rule drops this hit.').waitFor();
    await box.getByLabel('Page').fill('/internal');
    await box.getByText('No rule drops this hit.').waitFor({ state: 'detached' });
  });

  test('a goal is shown that was added before the first list of goals had arrived', async () => {
    const { page, site } = await openPage('settings');
    let isAnswered = false;
    let deliver = (): void => undefined;
    const delivery = new Promise<void>((resolve) => {
      deliver = resolve;
    });
    const holdAnswer = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      isAnswered = true;
      await delivery;
      await route.fulfill({ response });
    };
    await page.route(/\/conversions\?/, holdAnswer, { times: 1 });
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/goals`);
    await eventually('the first answer', () => isAnswered);
    await page.getByLabel('Name of the event').fill('signup');
    const added = page.waitForResponse((answer) => answer.url().endsWith('/goals') && answer.status() === 201);
    await page.getByRole('button', { name: 'Add goal' }).click();
    await added;
    deliver();
    await page.locator('[data-testid=goals] tbody tr', { hasText: 'signup' }).waitFor({ timeout: LIST_WITHIN_MS });
  });

  test('a hidden tab closes its stream of live events when another tab opens one, until it is shown again', async () => {
    const { page, site } = await openPage('realtime');
    const isLive = (request: Request) => request.url().includes('/live');
    const setHidden = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await Promise.all([page.waitForResponse((answer) => isLive(answer.request())), page.reload()]);
    await setHidden(true);
    const closed = page.waitForEvent('requestfailed', isLive);
    const other = await page.context().newPage();
    await other.goto(`${browser.weir.url}/dashboard/sites/${site}/realtime`);
    await closed;
    const opened = page.waitForRequest(isLive);
    await setHidden(false);
    await opened;
  });

  test('a site that is added after its dialog was closed appears in the list of sites', async () => {
    const { page } = await openDashboard(browser);
    let go = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      go = resolve;
    });
    let isSent = false;
    await page.route(/\/api\/admin\/sites$/, async (route) => {
      if (route.request().method() === 'POST') {
        isSent = true;
        await closed;
      }
      await route.continue();
    });
    // After a slow answer, the page does not repeat the request by itself within `LIST_WITHIN_MS`.
    const overview = await holdRequests(page, /\/api\/admin\/stats\?/);
    await page.reload();
    await page.getByText('This takes longer than a second.').waitFor();
    await overview.release();
    await page.locator('.site-card').first().waitFor();
    await page.getByRole('button', { name: 'Add site' }).click();
    await page.getByRole('dialog').getByLabel('Domain').fill('late.example.com');
    await page.keyboard.press('Enter');
    await eventually('the request', () => isSent);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    go();
    await page.locator('.site-card', { hasText: 'late.example.com' }).waitFor({ timeout: LIST_WITHIN_MS });
  });
});
