import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import type { Row } from '@weir/testkit/weir-client';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type PageServer, startPageServer } from './page-server.ts';

const CHROMIUM = '/usr/bin/chromium';
const CI = process.env.CI === 'true';
const missing = !existsSync(CHROMIUM);

/** Tests in Chromium. Firefox and WebKit are tested in engines.test.ts, because playwright-core supports only its own builds of them. */
export function describeBrowser(name: string, body: () => void): void {
  if (missing && !CI) describe.skip(`${name}: Chromium: apt-get install chromium`, body);
  else describe(name, body);
}

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
/**
 * The user agent of Chromium without the word "Headless", with which Weir would count the browser as a bot. It is set for the whole browser and
 * not for a page: a beacon that is sent after its page has closed does not use the user agent of the page.
 */
const USER_AGENT =
  '--user-agent=Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** How long a step in a page may take, because other test suites can run at the same time. */
export const STEP_WITHIN_MS = 60_000;
const MINUTE_MS = 60_000;

export interface TestBrowser {
  readonly weir: WeirProcess;
  readonly site: PageServer;
  /** Opens a new browser profile. */
  context(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Creates a Weir site, and serves pages with the script tag of that site. */
  openSite(attributes?: string, body?: string, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Opens a page in a separate Chromium that is not controlled by Playwright. */
  spawnChromium(url: string): { close(): Promise<void> };
  tag(siteId: string, attributes?: string): string;
  /**
   * Resolves with the rows of the site in `table` when there are at least `count` rows and Weir has processed all records. Rows of `events` (the
   * default) are in the order of receipt.
   */
  rows(siteId: string, count: number, columns?: string, table?: string): Promise<readonly Row[]>;
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [...ARGS, ...QUIET, USER_AGENT],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });

/**
 * Starts one Weir, one Chromium and one web site for all tests of a file. `settings` returns additional environment variables for Weir, which
 * listens on `port`.
 */
export function useBrowser(settings: (port: number) => Readonly<Record<string, string>> = () => ({})): TestBrowser {
  let weir: WeirProcess;
  let browser: Browser;
  let site: PageServer;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    const port = await freePort();
    const env = { PORT: String(port), RATE_LIMIT_COLLECT: '100000', COLLECT_PATHS: '/measure', ...settings(port) };
    weir = await startWeir({ env });
    site = await startPageServer();
    browser = await launchChromium();
  }, 240_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await weir?.stop();
  }, 120_000);

  const used: TestBrowser = {
    get weir() {
      return weir;
    },
    get site() {
      return site;
    },
    async context(options) {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(STEP_WITHIN_MS);
      contexts.push(context);
      return context;
    },
    spawnChromium(url) {
      const profile = mkdtempSync(join(tmpdir(), 'weir-chromium-'));
      const args = [...ARGS, ...QUIET, '--headless', USER_AGENT, `--user-data-dir=${profile}`, url];
      const child = spawn(CHROMIUM, args, { stdio: 'ignore', detached: true });
      const exited = new Promise((resolve) => child.once('exit', resolve));
      return {
        async close() {
          process.kill(-(child.pid ?? 0), 'SIGKILL');
          await exited;
          // The helper processes of Chromium end a moment later, and write files until then.
          rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
        },
      };
    },
    tag: (siteId, attributes = '') =>
      `<script defer src="${weir.url}/weir.js" data-site="${siteId}" ${attributes}></script>`,
    async openSite(attributes, body = '', headers = {}) {
      const siteId = await weir.client.createSite();
      site.serve(() => ({ html: `${used.tag(siteId, attributes)}${body}`, headers }));
      return siteId;
    },
    async rows(siteId, count, columns = '*', table = 'events') {
      const { client } = weir;
      await client.rows(table, siteId, count);
      await client.settled();
      const order = table === 'events' ? 'ORDER BY received_at, event_id' : '';
      const query = `SELECT ${columns} FROM ${table} WHERE site_id = {site:String} ${order}`;
      return client.sql(query, { site: siteId });
    },
  };
  return used;
}

/** Resolves when the page has loaded Weir's snippet. */
export async function loaded(page: { evaluate<T>(script: string): Promise<T> }): Promise<void> {
  await eventually('the snippet', () => page.evaluate<boolean>('!!window.weir && !window.weir.q'));
}

/** Stops the clock of the page, a minute ahead: Playwright cannot stop a clock at a time that has passed. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + MINUTE_MS);
}

interface HitGate {
  /** While this is true, the requests of the snippet fail. */
  isClosed: boolean;
  /** Resolves when the next request of the snippet has failed. Call it before the step that causes the request. */
  refusal(): Promise<unknown>;
}

/**
 * Opens `/a` in a new page, and waits until its pageview is stored. The gate then refuses the hits of the page, until the test opens it. The clock of
 * the page is stopped, so the snippet does not repeat a refused request by itself.
 */
export async function openBehindGate(
  browser: TestBrowser,
  siteId: string,
): Promise<{ readonly page: Page; readonly gate: HitGate }> {
  const page = await (await browser.context()).newPage();
  const gate: HitGate = {
    isClosed: false,
    refusal: () => page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/collect')),
  };
  // The route is set before the page loads: a request that is sent directly after a new route was set may miss the route.
  await page.route('**/api/collect', (route) => (gate.isClosed ? route.abort() : route.continue()));
  await stopClock(page);
  await page.goto(`${browser.site.url}/a`);
  await loaded(page);
  await browser.rows(siteId, 1);
  gate.isClosed = true;
  return { page, gate };
}
