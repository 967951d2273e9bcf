// Writes screenshots of all pages of the dashboard, in both themes and at the width of a phone, into a folder:
// `node --import tsx scripts/dashboard-screenshots.mjs [FOLDER [PAGE]]`. PAGE: the name of a page in PAGES, to write only its screenshots and
// those of the sign-in. Starts its own Weir with generated traffic. Needs Chromium.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { runProgram, startWeir } from '../packages/testkit/src/weir-process.ts';
import { demoAccessLog } from '../tests/browser/demo-traffic.ts';

const folder = resolve(process.argv[2] ?? '.cache/screenshots');
const only = process.argv[3];
mkdirSync(folder, { recursive: true });

/** Enough for a report on a busy machine. */
const TIMEOUT_MS = 120_000;

const SITES = [
  { site_id: 'shop', name: 'Harbour Shop', domain: 'shop.example.com', visits: 220 },
  { site_id: 'docs', name: 'Documentation', domain: 'docs.example.com', visits: 60 },
  { site_id: 'blog', name: 'Engineering blog with a rather long name', domain: 'blog.example.com', visits: 30 },
  { site_id: 'new', name: 'A new site', domain: 'new.example.com', visits: 0 },
];
const VIEWS = [
  { name: 'light', colorScheme: 'light', width: 1360, height: 900 },
  { name: 'dark', colorScheme: 'dark', width: 1360, height: 900 },
  { name: 'phone', colorScheme: 'light', width: 390, height: 844 },
];
/** Each page, and what to wait for or click before the picture is taken. */
const PAGES = [
  { name: 'sites', path: '', ready: '.site-card' },
  { name: 'overview', path: 'sites/shop/overview', ready: '.land.seen', shows: '.chart-note' },
  {
    name: 'explain',
    path: 'sites/shop/overview',
    ready: '.bar-row',
    click: '.series-tools [aria-label="Explain"]',
    shows: '.explain',
    full: false,
  },
  { name: 'install', path: 'sites/new/overview', ready: '.install' },
  { name: 'realtime', path: 'sites/shop/realtime', ready: '[data-testid=live]' },
  { name: 'goals', path: 'sites/shop/goals', ready: '[data-testid=goals]' },
  { name: 'funnels', path: 'sites/shop/funnels?step=page:/&step=page:/pricing&step=page:/docs*', ready: '.funnel' },
  { name: 'retention', path: 'sites/shop/retention?period=90d', ready: '.cohorts' },
  { name: 'journeys', path: 'sites/shop/journeys?page=/pricing', ready: '[data-testid=next]' },
  { name: 'people', path: 'sites/shop/people', ready: '[data-testid=people]' },
  { name: 'person', path: 'sites/shop/people#user=u_3', ready: '[data-testid=timeline] li' },
  {
    name: 'forget',
    path: 'sites/shop/people#user=u_3',
    ready: '[data-testid=timeline] li',
    click: '.person-head .danger',
    shows: '[data-testid=remains]',
    full: false,
  },
  { name: 'settings', path: 'sites/shop/settings', ready: '#api-keys' },
  { name: 'sql', path: 'sql', ready: '.sql-editor', click: '.button.primary', shows: '[data-testid=sql-result]' },
  {
    name: 'pipeline',
    path: 'pipeline',
    ready: '[data-testid=books] .facts',
    click: '[data-testid=minutes] summary',
    shows: '[data-testid=installation] progress',
  },
];

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';

const weir = await startWeir({ env: { RATE_LIMIT_COLLECT: '100000', RATE_LIMIT_EVENTS: '100000' } });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
try {
  await addTraffic();
  for (const { name: theme, colorScheme, width, height } of VIEWS) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height }, locale: 'en' });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(`${theme}: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => console.error(`${theme}: ${error.message}`));
    await page.goto(`${weir.url}/dashboard`);
    await page.waitForSelector('#token');
    await page.screenshot({ path: join(folder, `sign-in-${theme}.png`) });
    await page.fill('#token', weir.client.adminToken);
    await page.press('#token', 'Enter');
    await page.waitForSelector('.site-card');
    for (const { name, path, ready, click, shows, full = true } of PAGES) {
      if (only !== undefined && name !== only) continue;
      await page.goto(`${weir.url}/dashboard/${path}`);
      await page.waitForSelector(ready).catch(() => console.error(`${name}-${theme}: no ${ready}`));
      if (click) await page.click(click);
      if (shows) await page.waitForSelector(shows);
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      await page.waitForLoadState('networkidle');
      // A click may have scrolled the page.
      if (full) await page.evaluate('scrollTo(0, 0)');
      await page.screenshot({ path: join(folder, `${name}-${theme}.png`), fullPage: full });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await weir.stop();
}

async function addTraffic() {
  const { client } = weir;
  const file = join(folder, 'demo.log');
  for (const { visits, ...site } of SITES) {
    await client.createSite(site);
    if (visits === 0) continue;
    writeFileSync(file, demoAccessLog(Date.now(), 62, visits, visits));
    const settings = { WEIR_URL: weir.url, WEIR_ADMIN_TOKEN: client.adminToken };
    const { code, stderr } = await runProgram('weir.js', ['import', file, '--site', site.site_id, '--json'], settings);
    if (code !== 0) throw new Error(stderr);
  }
  rmSync(file);
  const { key } = await client.createKey('shop', { name: 'backend' });
  for (let n = 0; n < 120; n++) {
    const name = ['signup', 'signup', 'purchase', 'newsletter'][n % 4];
    await client.events(key, {
      name,
      user_id: `u_${n % 40}`,
      // Each visitor comes back after ten days, so that the cohorts on the page `retention` have numbers.
      visitor_id: `customer-${n % 40}`,
      ...(name === 'purchase' && { value: 20 + (n % 7) * 10 }),
      properties: { plan: ['free', 'pro', 'team'][n % 3] },
      timestamp: Date.now() - n * 6 * 3_600_000,
    });
  }
  const now = Date.now();
  for (const [days, text] of [
    [24, 'Pricing page redesigned'],
    [9, 'Newsletter no. 12'],
  ]) {
    const at = new Date(now - days * 86_400_000).toISOString();
    await client.must(201, 'POST', '/sites/shop/annotations', { at, text });
  }
  for (const [name, steps] of [
    ['From the start page to the prices', ['page:/', 'page:/pricing']],
    ['Sign-up to purchase', ['event:signup', 'event:purchase']],
  ])
    await client.must(201, 'POST', '/sites/shop/funnels', { name, steps });
  const names = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edsger Dijkstra', 'Barbara Liskov', 'Donald Knuth'];
  for (const [n, name] of names.entries()) {
    const visitor = { visitor_id: `browser-${n}`, session_id: `visit-${n}` };
    for (const [index, page] of ['/', '/pricing', '/docs/install'].entries()) {
      const url = `https://shop.example.com${page}`;
      const referrer = index === 0 ? 'https://www.google.com/' : 'https://shop.example.com/';
      await client.collect({ site_id: 'shop', type: 'pageview', ...visitor, url, referrer }, { 'user-agent': FIREFOX });
    }
    const email = `${name.split(' ')[0].toLowerCase()}@example.com`;
    const traits = { plan: ['free', 'pro', 'team'][n % 3], company: 'Harbour Ltd', seats: n + 1 };
    await client.identify(key, { visitor_id: visitor.visitor_id, user_id: `u_${n}`, name, email, ...traits });
    const paid = { value: String(20 + 10 * n), properties: { currency: 'EUR', plan: traits.plan } };
    await client.events(key, { name: 'subscription paid', user_id: `u_${n}`, ...paid });
  }
  for (const value of ['signup', 'purchase', 'subscription paid'])
    await client.must(201, 'POST', '/sites/shop/goals', { type: 'event', value });
  await client.settled();
}
