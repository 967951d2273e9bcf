import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import type { TestBrowser } from './use-browser.ts';

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export interface DashboardPage {
  readonly page: Page;
  /** Errors of scripts and of the console, such as violations of the content security policy. */
  readonly errors: string[];
}

type DashboardBrowser = Pick<TestBrowser, 'context'> & { readonly weir: Pick<TestBrowser['weir'], 'url' | 'client'> };

export async function openDashboard(
  browser: DashboardBrowser,
  path = '',
  options: BrowserContextOptions = {},
  token = browser.weir.client.adminToken,
): Promise<DashboardPage> {
  const context = await browser.context({ locale: 'en', ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // The first request asks for the session. Its answer is 401, which the browser reports as an error.
    if (message.type() === 'error' && !message.location().url.endsWith('/session')) errors.push(message.text());
  });
  await page.goto(`${browser.weir.url}/dashboard${path}`);
  await page.getByLabel('Admin or viewer token').fill(token);
  await page.getByLabel('Admin or viewer token').press('Enter');
  await page.waitForSelector('#navigation', { state: 'attached' });
  return { page, errors };
}

export interface HeldRequests {
  /** The number of requests that are held. */
  count(): number;
  /** Continues the held requests. Later requests are not held any more. */
  release(): Promise<void>;
}

/** Holds the GET requests of the page whose URL matches. */
export async function holdRequests(page: Page, url: RegExp): Promise<HeldRequests> {
  const held: Route[] = [];
  let isHolding = true;
  // The page may have cancelled a request.
  const go = (route: Route): Promise<void> => route.continue().catch(() => undefined);
  await page.route(url, (route) =>
    isHolding && route.request().method() === 'GET' ? void held.push(route) : go(route),
  );
  return {
    count: () => held.length,
    async release() {
      isHolding = false;
      for (const route of held) await go(route);
    },
  };
}

/**
 * Opens the overview page at this URL, and types "German" as the value of a filter on the language. Resolves with the dialog, which is still open.
 */
export async function typeGerman(page: Page, overviewUrl: string): Promise<Locator> {
  await page.goto(overviewUrl);
  await page.waitForSelector('[data-metric=visitors]');
  await page.keyboard.press('f');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What').selectOption('Language');
  await dialog.getByLabel('Value').fill('German');
  return dialog;
}

/** The suggestions of all inputs on the page (`datalist`). */
export const offered = (page: Page): Promise<readonly string[]> =>
  page
    .locator('datalist option')
    .evaluateAll((all) => all.map((option) => (option as unknown as { readonly value: string }).value));

/** The violations of WCAG 2.2 AA on the page, as texts. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // `evaluate` adds the script through the debugger, because the content security policy of the page refuses a script element.
  await page.evaluate(AXE);
  return page.evaluate<string[]>(
    `axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(RULES)} } }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`,
  );
}
