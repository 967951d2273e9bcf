import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { describeBrowser, useBrowser } from './use-browser.ts';

const run = promisify(execFile);
const MARKUP = `<img src=x onerror="document.title='broken'"> & <b>"O'Brien"</b>`;
/** The promise of docs/api.md: a revoked key is refused within a second. */
const REVOKED_WITHIN_MS = 1_000;

describeBrowser('API keys in the dashboard', () => {
  const browser = useBrowser();

  /**
   * Opens the dashboard with a selected site. Errors of the page's scripts and violations of its content security policy are
   * collected.
   */
  async function openKeys(name: string): Promise<{ page: Page; siteId: string; errors: string[] }> {
    const siteId = await browser.weir.client.createSite({ name });
    const context = await browser.context({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`${browser.weir.url}/dashboard`);
    await page.fill('#token', browser.weir.client.adminToken);
    await page.press('#token', 'Enter');
    await page.waitForSelector('#keys-site:not(:empty)');
    await page.selectOption('#site', siteId);
    await page.locator('#keys-site', { hasText: name }).waitFor();
    await page.waitForSelector('#key-list p');
    return { page, siteId, errors };
  }

  const text = async (page: Page, selector: string): Promise<string> => (await page.textContent(selector)) ?? '';
  const clipboard = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

  test('a key that is created with the keyboard works at once, its command runs, and it is refused within a second after it was revoked', async () => {
    const { client } = browser.weir;
    const { page, siteId, errors } = await openKeys(MARKUP);
    expect(await text(page, '#keys-site')).toBe(`${MARKUP} (example.com)`);

    await page.getByRole('link', { name: 'API keys' }).press('Enter');
    await page.getByLabel('Name').fill(MARKUP);
    await page.getByLabel('Name').press('Enter');
    await page.waitForSelector('#new-key');
    const key = await text(page, '#new-key-text');
    expect(await client.events(key, { name: 'signup' })).toMatchObject({ status: 202 });
    expect(await text(page, '#new-key-title')).toBe(`New API key "${MARKUP}" of the site ${siteId}`);

    await page.getByRole('button', { name: 'Copy key' }).press('Enter');
    await eventually('the key is copied', async () => (await clipboard(page)) === key);
    await page.getByRole('button', { name: 'Copy command' }).press('Enter');
    await eventually('the command is copied', async () => (await clipboard(page)).startsWith('curl '));
    const { stdout } = await run('sh', ['-c', `${await clipboard(page)} --silent`]);
    expect(JSON.parse(stdout)).toEqual({ status: 'success', data: { accepted: true } });

    await page.getByRole('button', { name: 'Done' }).press('Enter');
    expect(await page.content()).not.toContain(key);
    await page.waitForSelector('#key-list td');
    expect(await page.locator('#key-list td').allTextContents()).toEqual([
      MARKUP,
      expect.stringMatching(/^key_/),
      'events:write, identify:write',
      new Date().toISOString().slice(0, 10),
      'Revoke',
    ]);

    const revoke = page.getByRole('button', { name: `Revoke ${MARKUP}` });
    const questions: string[] = [];
    page.once('dialog', (dialog) => {
      questions.push(dialog.message());
      return dialog.dismiss();
    });
    await revoke.press('Enter');
    expect(questions).toEqual([expect.stringContaining(`Revoke the API key "${MARKUP}"?`)]);
    expect(await client.events(key, { name: 'signup' })).toMatchObject({ status: 202 });
    page.once('dialog', (dialog) => dialog.accept());
    await revoke.press('Enter');
    await page.waitForSelector('#key-note:not(:empty)');
    const refused = async () => (await client.events(key, {})).status === 401;
    await eventually('the key is refused', refused, REVOKED_WITHIN_MS);
    expect(await text(page, '#key-note')).toBe(`The API key "${MARKUP}" is revoked.`);
    await page.waitForSelector('#key-list p');
    expect(await page.evaluate('document.activeElement.id')).toBe('api-keys');
    expect(await page.title()).toBe('Weir');
    expect(errors).toEqual([]);
  });

  test('a key has the selected scopes; a legacy key can only identify, and its command sends an identify', async () => {
    const { client } = browser.weir;
    const { page } = await openKeys('Only some scopes');
    const create = async (scopes: string): Promise<string> => {
      await page.getByLabel('Name').fill(scopes);
      await page.getByLabel('Scopes').selectOption({ label: scopes });
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.locator('#new-key-title', { hasText: `"${scopes}"` }).waitFor();
      return text(page, '#new-key-text');
    };
    const identity = { visitor_id: 'v', user_id: 'u' };
    const events = await create('events:write');
    expect(await client.events(events, { name: 'signup' })).toMatchObject({ status: 202 });
    expect(await client.identify(events, identity)).toMatchObject({ status: 403 });
    const legacy = await create('legacy identify key');
    expect(await client.events(legacy, { name: 'signup' })).toMatchObject({ status: 403 });
    const { stdout } = await run('sh', ['-c', `${await text(page, '#new-key-curl')} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'success', data: { message: 'User identified' } });
    await page.locator('#key-list tbody tr', { hasText: 'legacy identify' }).waitFor();
  });

  test('shows errors beside the form, and removes a new key from the page when the sign-in ends', async () => {
    const { page } = await openKeys('Problems');
    await page.getByLabel('Name').fill('   ');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForSelector('#key-problem');
    expect(await text(page, '#key-problem')).toBe('name must not be empty');

    await page.getByLabel('Name').fill('forgotten');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForSelector('#new-key');
    expect(await page.isVisible('#key-problem')).toBe(false);
    const key = await text(page, '#new-key-text');

    await page.route(/\/keys$/, (route) => route.abort());
    await page.getByLabel('Name').fill('unanswered');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForSelector('#key-problem');
    expect(await text(page, '#key-problem')).toBe('Weir did not answer. Is it running?');

    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(await page.content()).not.toContain(key);
  });
});
