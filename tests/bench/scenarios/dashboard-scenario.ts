import { existsSync } from 'node:fs';
import { eventually } from '@weir/testkit/eventually';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../load/bench-servers.ts';
import { startFilledWeir } from '../load/filled-weir.ts';
import { untilQuiet } from '../report/quiet-machine.ts';
import { atMost, showNumber } from '../report/spread.ts';
import { TRAFFIC_SITE } from '../reports/report-traffic.ts';
import type { Bench, Findings, Scenario, Target } from './scenario.ts';

const CHROMIUM = '/usr/bin/chromium';
const PAGE_WITHIN_MS = 120_000;
const PERIODS = ['7d', '30d', '12mo'] as const;
const FIRST_PAINT_MS_MAX = 1_000;
/** The limits for the time of one report, as in reports-scenario.ts. */
const SHORT_MS_MAX = 150;
const YEAR_MS_MAX = 500;

/** A script for the page. It stores in `window.shownAt` when the numbers and each panel appear, in milliseconds since the navigation began. */
const WATCH = `
  window.shownAt = {};
  const look = () => {
    const set = (name, found) => { if (found && !(name in shownAt)) shownAt[name] = performance.now(); };
    set('numbers', document.querySelector('[data-metric]'));
    for (const panel of document.querySelectorAll('[data-panel]')) set(panel.dataset.panel, panel.querySelector('.bar-row, .land, .empty'));
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });`;

/** Milliseconds. The keys are `first paint`, `numbers`, and the names of the panels. */
type Times = Readonly<Record<string, number>>;

export const dashboard: Scenario = {
  name: 'dashboard',
  about:
    'first paint and the time until each panel of the overview is shown, in Chromium, on generated traffic of a year',
  rounds: 20,
  onlyByName: 'it fills all tables first, which takes minutes (one million rows) to an hour',
  missing: () => (existsSync(CHROMIUM) ? undefined : `${CHROMIUM} is missing: apt-get install chromium`),
  run,
};

async function run(bench: Bench): Promise<Findings> {
  const { rounds, quietSeconds, note } = bench;
  const weir = await startFilledWeir(bench);
  const { url } = weir;
  let browser: Browser | undefined;
  try {
    const quiet = await untilQuiet(quietSeconds);
    note(quiet);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
    const page = await signIn(browser, url);
    const times = new Map<string, readonly Times[]>();
    for (const period of PERIODS) {
      // The first round fills the caches of the browser and of the disk. It does not count.
      const found: Times[] = [];
      for (let round = 0; round <= rounds; round++) found.push(await openOverview(page, url, period));
      times.set(period, found.slice(1));
      note(`${period}: ${JSON.stringify(found.at(-1))}`);
    }
    return findingsOf(weir.rows, rounds, times, quiet);
  } finally {
    await browser?.close();
    await weir.stop();
  }
}

async function signIn(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ locale: 'en', viewport: { width: 1360, height: 2_200 } });
  context.setDefaultTimeout(PAGE_WITHIN_MS);
  await context.addInitScript(WATCH);
  const page = await context.newPage();
  await page.goto(`${url}/dashboard`);
  await page.fill('#token', ADMIN_TOKEN);
  await page.press('#token', 'Enter');
  await page.waitForSelector('.site-card');
  return page;
}

/** Opens the overview for a signed-in user whose browser has a warm cache, and waits until the numbers and all panels are shown. */
async function openOverview(page: Page, url: string, period: string): Promise<Times> {
  await page.goto(`${url}/dashboard/sites/${TRAFFIC_SITE}/overview?period=${period}`);
  await eventually(
    'all panels',
    () =>
      page.evaluate<boolean>(
        "'numbers' in shownAt && document.querySelectorAll('[data-panel]').length === Object.keys(shownAt).length - 1",
      ),
    PAGE_WITHIN_MS,
  );
  return page.evaluate<Times>(
    "({ 'first paint': performance.getEntriesByName('first-contentful-paint')[0].startTime, ...shownAt })",
  );
}

function findingsOf(
  rows: number,
  rounds: number,
  times: ReadonlyMap<string, readonly Times[]>,
  quiet: string,
): Findings {
  const names = Object.keys(times.get(PERIODS[0])?.[0] ?? {});
  const figures = (period: string, name: string): readonly number[] =>
    (times.get(period) ?? []).map((found) => found[name] ?? Number.NaN);
  const cell = (found: readonly number[]): string =>
    `${showNumber(rank(found, 0.5), 0)} / ${showNumber(rank(found, 0.95), 0)}`;
  const all = PERIODS.flatMap((period) => figures(period, 'first paint'));
  const size = `${showNumber(rows, 0)} rows`;
  const panels = (period: string, max: number): Target => {
    const others = names.filter((name) => name !== 'first paint');
    const slowest = Math.max(
      ...others.map((name) => rank(figures(period, name), 0.95) - rank(figures(period, 'first paint'), 0.5)),
    );
    return atMost(`${size}: p95 of the slowest panel of ${period}, after the first paint`, slowest, max);
  };
  return {
    tables: [
      {
        head: [`overview in Chromium, ${size}: p50 / p95 ms`, ...PERIODS],
        rows: names.map((name) => [name, ...PERIODS.map((period) => cell(figures(period, name)))]),
      },
    ],
    targets: [
      atMost(`${size}: p95 of the first paint`, rank(all, 0.95), FIRST_PAINT_MS_MAX),
      panels('7d', SHORT_MS_MAX),
      panels('30d', SHORT_MS_MAX),
      panels('12mo', YEAR_MS_MAX),
    ],
    notes: [
      `The page is loaded ${rounds} times for each period, with a warm cache of the browser, after a load that is not counted. The times begin with the navigation. A panel is shown when its first row is in the document. All panels ask at the same time.`,
      'Weir, its embedded ClickHouse and Chromium run on the same machine. The traffic is that of the scenario reports, and ends when it is inserted. The slots of the days that are at least four days old are built before Weir starts.',
      `Before the pages were opened, ${quiet}.`,
    ],
  };
}

/** Returns the quantile of the figures at this share (nearest rank). */
function rank(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
