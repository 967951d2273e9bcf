import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { PageServer } from './page-server.ts';

const run = promisify(execFile);
/** For a new key, the page shows a command that sends an event with this name. */
export const WALK_EVENT = 'signup';
/** Pages repeat their requests every few seconds, and more slowly on a busy machine. */
const SHOWN_WITHIN_MS = 180_000;

export interface Walk {
  /** A page of a new browser profile. */
  readonly page: Page;
  /** The address of Weir. */
  readonly url: string;
  readonly token: string;
  /** The web site of the new user. */
  readonly site: PageServer;
  /** Called after each step. */
  readonly onStep: (name: string, page: Page) => Promise<void> | void;
}

/**
 * Does the first steps of a new user: adds a site, puts the snippet on a page, sees the first pageview, adds a goal, and creates an API key. Then
 * runs the command that the page shows for this key. The command sends an event. Uses only what the pages show. When the goal has counted the
 * event, resolves with the cells of the goal's row.
 */
export async function walkAsNewUser({ page, url, token, site, onStep }: Walk): Promise<readonly string[]> {
  page.setDefaultTimeout(SHOWN_WITHIN_MS);
  await page.goto(url);
  await page.getByLabel('Admin or viewer token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'All sites' }).waitFor();
  await onStep('signed in', page);

  await page.getByRole('button', { name: 'Add site' }).first().click();
  await page.getByLabel('Domain').fill(new URL(site.url).hostname);
  await page.getByRole('dialog').getByRole('button', { name: 'Add site' }).click();
  await page.getByText('Waiting for the first hit').waitFor();
  const tag = (await page.locator('.install pre').first().textContent()) ?? '';
  await onStep('site added', page);

  site.serve(() => ({ html: tag }));
  const visit = await page.context().newPage();
  await visit.goto(site.url);
  await page.locator('[data-metric=pageviews]', { hasText: /^1$/ }).waitFor();
  await page.locator('[data-panel=pages] .bar-row', { hasText: '/' }).waitFor();
  await visit.close();
  await onStep('own pageview in the chart', page);

  await page.getByRole('link', { name: 'Goals' }).click();
  await page.getByLabel('Name of the event').fill(WALK_EVENT);
  await page.getByRole('button', { name: 'Add goal' }).click();
  const goal = page.locator('[data-testid=goals] tbody tr', { hasText: WALK_EVENT });
  await goal.waitFor();
  await onStep('goal added', page);

  await page.getByRole('link', { name: 'Settings' }).click();
  const keys = page.getByRole('region', { name: 'API keys' }).first();
  await keys.getByLabel('Name').fill('backend');
  await keys.getByRole('button', { name: 'Create key' }).click();
  const command = (await page.locator('[data-testid=new-key] pre').nth(1).textContent()) ?? '';
  await onStep('API key created', page);

  const { stdout } = await run('sh', ['-c', `${command} --silent --show-error`]);
  if (!stdout.includes('"accepted":true')) throw new Error(`the command of the new key answered ${stdout}`);
  await onStep('event accepted', page);

  await page.getByRole('link', { name: 'Goals' }).click();
  const conversions = goal.locator('td').nth(1);
  await conversions.filter({ hasText: /^1$/ }).waitFor();
  await onStep('goal has counted the event', page);
  return goal.locator('th, td').allTextContents();
}
