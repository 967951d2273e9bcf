import { readFileSync } from 'node:fs';
import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';

describeBrowser('people in the dashboard', () => {
  const browser = useBrowser();

  /** Creates a site with three persons: Ada, who has two visitors and a payment, Bob, and a visitor without a user. */
  async function siteWithPeople(): Promise<string> {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'People' });
    const { key } = await client.createKey(site);
    const view = (visitor: string, path: string) =>
      client.collect(
        {
          site_id: site,
          visitor_id: visitor,
          session_id: `s${visitor}`,
          type: 'pageview',
          url: `https://example.com${path}`,
        },
        { 'user-agent': FIREFOX },
      );
    await view('v1', '/first');
    await view('v1', '/pricing');
    await client.identify(key, {
      visitor_id: 'v1',
      user_id: 'u_ada',
      email: 'ada@example.com',
      name: 'Ada L',
      plan: 'gold',
    });
    await client.identify(key, { visitor_id: 'v2', user_id: 'u_ada' });
    await client.identify(key, { visitor_id: 'v3', user_id: 'u_bob', email: 'bob@example.com' });
    await view('v2', '/phone');
    await view('v4', '/anonymous');
    const paid = { user_id: 'u_ada', value: '49.90', properties: { currency: 'EUR', seats: 3 } };
    await client.events(key, { name: 'paid', ...paid });
    await browser.rows(site, 5);
    return site;
  }

  const person = (page: Page, name: string) => page.locator('[data-testid=people] tbody tr', { hasText: name });

  test('finds people by ID, e-mail address, name and trait, and shows one with its visits, events and payments in order', async () => {
    const site = await siteWithPeople();
    const { page, errors } = await openDashboard(browser, `/sites/${site}/people`);
    await person(page, 'u_bob').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    for (const [text, found, others] of [
      ['ADA@ex', 'u_ada', 'u_bob'],
      ['gold', 'u_ada', 'u_bob'],
      ['u_b', 'u_bob', 'u_ada'],
      ['v3', 'u_bob', 'u_ada'],
    ] as const) {
      await page.getByRole('searchbox').fill(text);
      await person(page, others).waitFor({ state: 'detached' });
      await person(page, found).waitFor();
    }
    await page.getByRole('searchbox').fill('Ada L');
    await person(page, 'plan: gold').getByRole('link').click();
    await page.getByRole('heading', { name: 'Ada L', level: 1 }).waitFor();
    // The ID is in the fragment of the URL, which a browser does not send to the server.
    expect(new URL(page.url()).pathname + new URL(page.url()).search).not.toContain('u_ada');
    expect(await page.locator('[data-testid=profile]').textContent()).toContain('plangold');
    await page.locator('[data-testid=payments]', { hasText: '€49.90' }).waitFor();
    const names = page.locator('[data-testid=timeline] .event-name');
    expect((await names.allTextContents()).toSorted()).toEqual(['/first', '/phone', '/pricing', 'paid']);
    const all = await names.allTextContents();
    expect(all.indexOf('/pricing')).toBeLessThan(all.indexOf('/first'));
    await page.locator('.visit-event', { hasText: 'seats: 3' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'Ada L', level: 1 }).waitFor();
    // The browser's way back and the link to the list both keep the search.
    await page.goBack();
    await person(page, 'u_ada').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('Ada L');
    expect(await person(page, 'u_bob').count()).toBe(0);
    await page.goForward();
    await page.getByRole('link', { name: 'v1', exact: true }).click();
    await page.getByRole('link', { name: 'Show all visitors of this user' }).waitFor();
    await page.getByRole('link', { name: '← People' }).click();
    await person(page, 'u_ada').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('Ada L');
    // A search can be an ID, so it is in the fragment too.
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('searchbox').fill('v4');
    await page.getByRole('link', { name: 'Show visitor v4' }).click();
    await page.getByText('This visitor was not identified as a user.').waitFor();
    expect(await names.allTextContents()).toEqual(['/anonymous']);
    expect(errors).toEqual([]);
  });

  test('unlinks a visitor, exports everything, and forgets the person after the ID was typed', async () => {
    const { client } = browser.weir;
    const site = await siteWithPeople();
    const { page, errors } = await openDashboard(browser, `/sites/${site}/people#user=u_ada`);
    await page.getByRole('button', { name: 'Unlink visitor v2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
    await page.getByRole('link', { name: 'v2', exact: true }).waitFor({ state: 'detached', timeout: 120_000 });
    expect(await page.locator('[data-testid=visitors] li').count()).toBe(1);

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const exported = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
    expect(exported).toMatchObject({ site_id: site, user_id: 'u_ada' });
    expect(JSON.stringify(exported)).toContain('ada@example.com');

    await page.getByRole('button', { name: 'Forget' }).click();
    const dialog = page.getByRole('dialog', { name: 'Forget u_ada?' });
    await dialog.getByText('Records in the topic events.raw').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const forget = dialog.getByRole('button', { name: 'Forget' });
    expect(await forget.isDisabled()).toBe(true);
    await dialog.getByLabel('Type u_ada to confirm').pressSequentially('u_adA');
    expect(await forget.isDisabled()).toBe(true);
    expect(await client.must(200, 'GET', '/erasures')).toEqual([]);
    await dialog.getByLabel('Type u_ada to confirm').fill('u_ada');
    await forget.click();
    await page.waitForSelector('#receipt');
    await eventually('the focus', async () => (await page.evaluate('document.activeElement.id')) === 'receipt');
    await page.getByText('The person is forgotten.').waitFor({ timeout: 150_000 });
    expect(await page.locator('[data-testid=receipt]').textContent()).toContain('records');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: '← People' }).click();
    await person(page, 'u_bob').waitFor();
    await eventually('Ada is not listed', async () => (await person(page, 'u_ada').count()) === 0);
    expect(errors).toEqual([]);
  });

  test('the receipt of an erasure is shown also if the dialog was closed before Weir had answered', async () => {
    const site = await siteWithPeople();
    const { page, errors } = await openDashboard(browser);
    let go = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      go = resolve;
    });
    let isSent = false;
    await page.route(/\/erasures$/, async (route) => {
      if (route.request().postDataJSON().dry_run !== true) {
        isSent = true;
        await closed;
      }
      await route.continue();
    });
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/people#user=u_bob`);
    await page.getByRole('button', { name: 'Forget' }).click();
    const dialog = page.getByRole('dialog', { name: 'Forget u_bob?' });
    await dialog.getByLabel('Type u_bob to confirm').fill('u_bob');
    await dialog.getByRole('button', { name: 'Forget' }).click();
    await eventually('the request', () => isSent);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    go();
    await page.waitForSelector('#receipt');
    expect(errors).toEqual([]);
  });

  test('a visitor that an identify links again can be unlinked again', async () => {
    const { client } = browser.weir;
    const site = await siteWithPeople();
    const { key } = await client.createKey(site);
    const { page } = await openDashboard(browser, `/sites/${site}/people#user=u_ada`);
    const unlink = async (visitor: string) => {
      await page.getByRole('button', { name: `Unlink visitor ${visitor}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
    };
    const link = (visitor: string) => page.getByRole('link', { name: visitor, exact: true });
    await unlink('v2');
    await link('v2').waitFor({ state: 'detached', timeout: 120_000 });
    await client.identify(key, { visitor_id: 'v2', user_id: 'u_ada' });
    await eventually('v2 is linked again', async () => {
      const timeline = await client.must(200, 'POST', `/sites/${site}/people/timeline`, { user_id: 'u_ada' });
      return (timeline as { profile: { visitor_ids: string[] } }).profile.visitor_ids.includes('v2');
    });
    // The page loads the profile again.
    await unlink('v1');
    await page.getByRole('button', { name: 'Unlink visitor v2' }).waitFor();
    await link('v1').waitFor({ state: 'detached', timeout: 120_000 });
  });

  test('a site without users shows how to identify one', async () => {
    const site = await browser.weir.client.createSite({ name: 'No people' });
    const { page, errors } = await openDashboard(browser, `/sites/${site}/people`);
    await page.getByText('No user of this site was identified yet.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.goto(`${browser.weir.url}/dashboard/sites/${site}/people#user=none`);
    await page.getByText('Weir has nothing about this person.').waitFor();
    expect(errors).toEqual([]);
  });
});
