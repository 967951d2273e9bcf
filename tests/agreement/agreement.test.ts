import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import { cli } from '../../services/cli/test/cli-harness.ts';
import { ADMIN_TOKEN } from '../../services/control/test/control-harness.ts';
import { type DashboardPage, openDashboard } from '../browser/dashboard-page.ts';
import { describeBrowser, launchChromium } from '../browser/use-browser.ts';
import { modelOf } from '../reports-model/model-rows.ts';
import { type Lane, type Lanes, openLanes } from '../reports-model/report-lanes.ts';
import { HISTORY_MS, type History, history } from '../reports-model/sent-history.ts';
import {
  type AgreementQuestion,
  agreementQuestions,
  apiPath,
  cliWords,
  dashboardPath,
  LIST_ROWS,
} from './agreement-questions.ts';
import { type RenderedDashboard, renderDashboard } from './rendered-dashboard.ts';
import { cliCells, shownText, wantedRows, wantedStats } from './shown-numbers.ts';
import { type ApiAnswer, differencesFromSql, METRICS } from './sql-numbers.ts';

/**
 * The number of generated questions (`WEIR_AGREEMENT_QUESTIONS`). The admin API, the command `weir`, the SQL of `explain=1` and the dashboard
 * must give the same answer to each. A history (the traffic of one site) is used for at most 50 questions. `WEIR_AGREEMENT_SEED` sets the seed of
 * the first history.
 */
const QUESTIONS = Number(process.env.WEIR_AGREEMENT_QUESTIONS ?? 20);
const SEED = Number(process.env.WEIR_AGREEMENT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const QUESTIONS_PER_HISTORY = 50;
/** One of this many questions is also asked in Chromium. */
const IN_CHROMIUM_EVERY = 20;
const AT_ONCE = 4;
const QUESTION_WITHIN_MS = 20_000;
const PAGE_WITHIN_MS = 120_000;
const DAY_MS = 86_400_000;
let opened: Lanes;
let lane: Lane;
let dashboard: RenderedDashboard;
let browser: Browser;
beforeAll(async () => {
  opened = await openLanes(1, join(PROJECT_ROOT, 'dist/dashboard'));
  lane = opened.lanes[0] as Lane;
  dashboard = await renderDashboard(urlOf(lane), ADMIN_TOKEN);
  browser = await launchChromium();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await opened?.close();
});

const urlOf = ({ client }: Lane): string => client.urls[0] ?? '';

/** Sends a history to a new site. Then sets the clock to a moment between 12 hours before and 36 hours after the end of the history. */
async function sendHistory(made: History, seed: number): Promise<string> {
  const site = await lane.send(made);
  await opened.settled();
  lane.now = made.base + HISTORY_MS - DAY_MS / 2 + ((seed * 7_919) % (2 * DAY_MS));
  return site;
}

async function answerOf(asked: AgreementQuestion, site: string): Promise<ApiAnswer> {
  return (await lane.client.must(200, 'GET', `/sites/${site}${apiPath(asked)}`)) as ApiAnswer;
}

/** Asks the question everywhere except in Chromium, and compares the answers. */
async function askEverywhere(asked: AgreementQuestion, site: string, index: number): Promise<void> {
  const { dimension } = asked.question;
  const answer = await answerOf(asked, site);
  const { explain: _, ...plain } = answer;
  const differences = await differencesFromSql(lane.client, answer, {
    limit: LIST_ROWS,
    metrics: asked.question.metrics,
  });
  expect({ by: 'SQL', differences }).toEqual({ by: 'SQL', differences: [] });

  const env = { WEIR_URL: urlOf(lane), WEIR_ADMIN_TOKEN: ADMIN_TOKEN };
  const words = cliWords(asked, site);
  if (index % 4 < 2) {
    expect((await cli([...words, '--json'], { env })).json).toEqual(plain);
  } else {
    const lines = (await cli(words, { env })).out.split('\n').map((line) => line.trim().split(/\s+/).join(' '));
    const { totals, buckets = [], comparison, rows = [] } = answer;
    const numbers = [...buckets, ...rows, ...(totals ? [totals] : []), ...(comparison ? [comparison.totals] : [])];
    for (const row of numbers) expect(lines).toContainEqual(expect.stringContaining(cliCells(row).join(' ')));
  }

  const url = dashboardPath(asked, site);
  if (dimension === '') {
    expect(await dashboard.stats(url)).toMatchObject(wantedStats(answer));
  } else {
    const { rows } = await dashboard.breakdown(url, dimension, asked.metric);
    expect(rows).toEqual(wantedRows(answer, dimension, asked.metric));
  }
}

/**
 * Opens a page of the dashboard, and signs in. Each history sets the clock of Weir to another time, at which the sign-in of an earlier page can have
 * expired. Therefore the test calls this for each history.
 */
async function openPage(): Promise<DashboardPage> {
  const context = await browser.newContext({ locale: 'en' });
  // The time limit is long, because other questions are asked at the same time.
  context.setDefaultTimeout(PAGE_WITHIN_MS);
  return openDashboard({ weir: { url: urlOf(lane), client: lane.client }, context: async () => context });
}

/** Opens the overview page of the question in Chromium, and compares the numbers that it shows. */
async function askInChromium({ page, errors }: DashboardPage, asked: AgreementQuestion, site: string): Promise<void> {
  await page.goto(urlOf(lane) + dashboardPath(asked, site));
  const totals = (await answerOf({ ...asked, question: { ...asked.question, dimension: '' } }, site)).totals;
  const wanted = METRICS.map((name) => [name, shownText(name, totals?.[name] ?? null)]);
  await page.waitForSelector('[data-metric=visitors]');
  const shown = METRICS.map(async (name) => [name, await page.getAttribute(`[data-metric=${name}]`, 'title')]);
  expect(await Promise.all(shown)).toEqual(wanted);
  const question = {
    ...asked.question,
    dimension: 'page',
    compare: undefined,
    metrics: ['visitors'],
    order: 'visitors:desc',
  };
  const rows = wantedRows(await answerOf({ ...asked, question }, site), 'page', 'visitors');
  const panel = page.locator('[data-panel=pages]');
  await panel.locator('.bar-row, .empty').first().waitFor();
  const found = panel
    .locator('.bar-row')
    .evaluateAll((all) =>
      all.map((row) => [row.getAttribute('title'), row.querySelector('.bar-number')?.getAttribute('title')]),
    );
  expect(await found).toEqual(rows);
  expect(errors).toEqual([]);
}

/** Asks all questions, `AT_ONCE` of them at the same time. Chromium has only one page, so its questions are asked one after another. */
async function askAll(questions: readonly AgreementQuestion[], site: string, seed: number): Promise<void> {
  const opened = await openPage();
  const left = questions.entries();
  const inChromium = [...questions.entries()].filter(([index]) => index % IN_CHROMIUM_EVERY === 0);
  const everywhere = (index: number, asked: AgreementQuestion) => askEverywhere(asked, site, index);
  try {
    await Promise.all([
      askEach(inChromium, site, seed, (_, asked) => askInChromium(opened, asked, site)),
      ...Array.from({ length: AT_ONCE }, () => askEach(left, site, seed, everywhere)),
    ]);
  } finally {
    await opened.page.context().close();
  }
}

/** Asks the remaining questions one after another. An error names the question. */
async function askEach(
  questions: Iterable<[number, AgreementQuestion]>,
  site: string,
  seed: number,
  ask: (index: number, asked: AgreementQuestion) => Promise<void>,
): Promise<void> {
  for (const [index, asked] of questions) {
    try {
      await ask(index, asked);
    } catch (error) {
      const words = cliWords(asked, site).join(' ');
      throw new Error(`seed ${seed}, question ${index} (weir ${words}): ${(error as Error).message}`, { cause: error });
    }
  }
}

describeBrowser('the admin API, weir, SQL and the dashboard', () => {
  test(
    `give the same answer to ${QUESTIONS} generated questions (WEIR_AGREEMENT_SEED=${SEED})`,
    async () => {
      for (let first = 0; first < QUESTIONS; first += QUESTIONS_PER_HISTORY) {
        const seed = SEED + first / QUESTIONS_PER_HISTORY;
        const [made] = fc.sample(fc.noBias(history), { seed, numRuns: 1 });
        if (made === undefined) throw new Error('fast-check generated nothing');
        const site = await sendHistory(made, seed);
        const count = Math.min(QUESTIONS_PER_HISTORY, QUESTIONS - first);
        await askAll(agreementQuestions(modelOf(made), seed, count), site, seed);
      }
    },
    60_000 + QUESTIONS * QUESTION_WITHIN_MS,
  );
});
