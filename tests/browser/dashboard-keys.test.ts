import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { holdRequests, openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const run = promisify(execFile);
const MARKUP = `<img src=x onerror="document.title='broken'"> & <b>"O'Brien"</b>`;
/** docs/api.md promises that Weir refuses a revoked key within a second. */
const REVOKED_WITHIN_MS = 1_000;

describeBrowser('API keys in the dashboard', () => {
  const publicUrl = (port: number | string): string => `http://localhost:${port}`;
  const browser = useBrowser((port) => ({ WEIR_PUBLIC_URL: publicUrl(port) }));

  async function openKeys(name: string): Promise<{ page: Page; siteId: string; errors: string[] }> {
    const siteId = await browser.weir.client.createSite({ name });
    const { page, errors } = await openDashboard(browser, `/sites/${siteId}/settings#api-keys`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.waitForSelector('[data-testid=no-keys]');
    return { page, siteId, errors };
  }

  const section = (page: Page) => page.getByRole('region', { name: 'API keys' }).first();
  const newKey = (page: Page) => page.locator('[data-testid=new-key]');
  const keyText = async (page: Page): Promise<string> =>
    (await newKey(page).locator('pre').first().textContent()) ?? '';
  const clipboard = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

  test('a key that is created with the keyboard works at once, its command runs, and it is refused within a second after it was revoked', async () => {
    const { client } = browser.weir;
    const { page, errors } = await openKeys(MARKUP);
    await section(page).getByLabel('Name').fill(MARKUP);
    await section(page).getByLabel('Name').press('Enter');
    await newKey(page).waitFor();
    const key = await keyText(page);
    expect(await client.events(key, { name: 'signup' })).toMatchObject({ status: 202 });
    expect(await newKey(page).getByRole('heading').textContent()).toBe(`New API key "${MARKUP}"`);
    expect(await violationsOf(page)).toEqual([]);

    await page.getByRole('button', { name: 'Copy key' }).press('Enter');
    await eventually('the key is copied', async () => (await clipboard(page)) === key);
    await page.getByRole('button', { name: 'Copy command' }).press('Enter');
    await eventually('the command is copied', async () => (await clipboard(page)).startsWith('curl '));
    const { stdout } = await run('sh', ['-c', `${await clipboard(page)} --silent`]);
    expect(JSON.parse(stdout)).toEqual({ status: 'success', data: { accepted: true } });

    await page.getByRole('button', { name: 'Done' }).press('Enter');
    expect(await page.content()).not.toContain(key);
    expect(await page.evaluate('document.activeElement.id')).toBe('api-keys');
    const row = page.locator('[data-testid=keys] tbody tr');
    expect(await row.locator('th, td').allTextContents()).toEqual([
      MARKUP,
      expect.stringMatching(/^key_/),
      'events:write, identify:write',
      expect.stringContaining(String(new Date().getFullYear())),
      expect.any(String),
      'Revoke',
    ]);

    const revoke = page.getByRole('button', { name: `Revoke ${MARKUP}` });
    const question = page.getByRole('dialog', { name: `Revoke the API key "${MARKUP}"?` });
    await revoke.press('Enter');
    expect(await violationsOf(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).press('Enter');
    expect(await client.events(key, { name: 'signup' })).toMatchObject({ status: 202 });
    await revoke.press('Enter');
    await question.getByRole('button', { name: 'Revoke', exact: true }).press('Enter');
    await page.getByText(`The API key "${MARKUP}" is revoked.`).waitFor();
    const refused = async () => (await client.events(key, {})).status === 401;
    await eventually('the key is refused', refused, REVOKED_WITHIN_MS);
    await page.waitForSelector('[data-testid=no-keys]');
    await eventually('the focus', async () => (await page.evaluate('document.activeElement.id')) === 'api-keys');
    expect(await page.title()).toBe(`Settings · ${MARKUP} · Weir`);
    expect(errors).toEqual([]);
  });

  test('a key has the selected scopes; a legacy key can only identify, and its command sends an identify', async () => {
    const { client } = browser.weir;
    const { page } = await openKeys('Only some scopes');
    const create = async (scopes: string): Promise<string> => {
      await section(page).getByLabel('Name').fill(scopes);
      await section(page).getByLabel('Scopes').selectOption({ label: scopes });
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('heading', { name: `New API key "${scopes}"` }).waitFor();
      return keyText(page);
    };
    const identity = { visitor_id: 'v', user_id: 'u' };
    const events = await create('events:write');
    expect(await client.events(events, { name: 'signup' })).toMatchObject({ status: 202 });
    expect(await client.identify(events, identity)).toMatchObject({ status: 403 });
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied.').waitFor({ state: 'attached' });
    const legacy = await create('legacy identify key');
    expect(await newKey(page).first().getByText('Copied.').count()).toBe(0);
    // The first key is still there: Weir could not show it again.
    expect(await newKey(page).last().locator('pre').first().textContent()).toBe(events);
    expect(await client.events(legacy, { name: 'signup' })).toMatchObject({ status: 403 });
    const command = await newKey(page).locator('pre').nth(1).textContent();
    const { stdout } = await run('sh', ['-c', `${command} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'success', data: { message: 'User identified' } });
    await page.locator('[data-testid=keys] tbody tr', { hasText: 'legacy identify' }).waitFor();
  });

  test('a new key and a new viewer are shown at once, although their lists are not loaded again yet', async () => {
    const { page, errors } = await openKeys('Slow lists');
    const lists = await holdRequests(page, /\/(keys|viewers)$/);
    await page.reload();
    await section(page).getByLabel('Name').fill('backend');
    await section(page).getByLabel('Name').press('Enter');
    await newKey(page).waitFor();
    await page.getByLabel('Name of the viewer').fill('Ann');
    await page.getByLabel('Name of the viewer').press('Enter');
    await page.locator('[data-testid=new-viewer]').waitFor();
    expect(lists.count()).toBeGreaterThan(0);
    await lists.release();
    await page.locator('[data-testid=keys] tbody tr').waitFor();
    expect(errors).toEqual([]);
  });

  test('without a secure context, a button that copies keeps the focus', async () => {
    const { page } = await openKeys('Plain HTTP');
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.reload();
    await section(page).getByLabel('Name').fill('backend');
    await section(page).getByLabel('Name').press('Enter');
    const copy = page.getByRole('button', { name: 'Copy key' });
    await copy.press('Enter');
    await page.getByText('Copied.').waitFor({ state: 'attached' });
    expect(await copy.evaluate((element) => element.matches(':focus'))).toBe(true);
  });

  test('the command of a key and the snippet contain the address of WEIR_PUBLIC_URL, and no text asks to replace it', async () => {
    const { client, url } = browser.weir;
    const gatewayUrl = publicUrl(new URL(url).port);
    expect((await client.admin('GET', '/session')).json).toMatchObject({ data: { gateway_url: gatewayUrl } });
    const { page, siteId } = await openKeys('Public address');
    await section(page).getByLabel('Name').fill('backend');
    await page.getByRole('button', { name: 'Create key' }).click();
    const command = await newKey(page).locator('pre').nth(1).textContent();
    expect(command).toContain(`curl -X POST '${gatewayUrl}/api/v1/events'`);
    expect(await page.getByText('another address').count()).toBe(0);

    await page.getByRole('link', { name: 'Overview' }).click();
    const snippet = await page.locator('.install pre').first().textContent();
    expect(snippet).toBe(`<script defer src="${gatewayUrl}/weir.js" data-site="${siteId}"></script>`);
    expect(await page.getByText('another address').count()).toBe(0);
  });

  test('shows errors beside the form, and removes a new key from the page when the sign-in ends', async () => {
    const { page } = await openKeys('Problems');
    // The route is set long before it aborts a request, because a request that is sent directly after a new route was set may miss the route.
    let isAnswered = true;
    await page.route(/\/keys$/, (route) =>
      isAnswered || route.request().method() !== 'POST' ? route.continue() : route.abort(),
    );
    const problem = page.getByRole('alert');
    await section(page).getByLabel('Name').fill('   ');
    await page.getByRole('button', { name: 'Create key' }).click();
    await problem.filter({ hasText: 'name must not be empty' }).waitFor();

    await section(page).getByLabel('Name').fill('forgotten');
    await page.getByRole('button', { name: 'Create key' }).click();
    await newKey(page).waitFor();
    expect(await problem.count()).toBe(0);
    const key = await keyText(page);

    isAnswered = false;
    await section(page).getByLabel('Name').fill('unanswered');
    await page.getByRole('button', { name: 'Create key' }).click();
    await problem.filter({ hasText: 'Weir did not answer. Is it running?' }).waitFor();

    await page.getByRole('button', { name: 'Administrator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('Admin or viewer token').waitFor();
    expect(await page.content()).not.toContain(key);
  });

  test('the address of a section of the settings opens the page at this section', async () => {
    const siteId = await browser.weir.client.createSite({ name: 'Sections' });
    for (const id of ['viewers', 'remove-site']) {
      const { page } = await openDashboard(browser, `/sites/${siteId}/settings#${id}`, {
        viewport: { width: 800, height: 500 },
      });
      const lists = page.locator('.loading');
      await page.locator(`#${id}`).waitFor();
      await eventually('all sections have loaded', async () => (await lists.count()) === 0);
      const { top, bottom } = await page.locator(`#${id}`).evaluate((heading) => heading.getBoundingClientRect());
      expect(top).toBeGreaterThanOrEqual(0);
      expect(bottom).toBeLessThanOrEqual(500);
    }
  });

  test('a new identity secret stays on the page while signatures are made a requirement, until "Done"', async () => {
    const { page, errors } = await openKeys('Secret');
    const identity = page.locator('[data-testid=identity]');
    await identity.getByRole('button', { name: 'Create secret' }).click();
    const secret = identity.locator('[data-testid=new-secret] pre').first();
    const created = await secret.textContent();
    await identity.getByRole('button', { name: 'Require signatures' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Require signatures' }).click();
    await identity.getByText('Signatures are required').waitFor();
    expect(await secret.textContent()).toBe(created);
    await identity.getByRole('button', { name: 'Done' }).click();
    await secret.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.id')).toBe('identity');
    expect(errors).toEqual([]);
  });
});
