import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { readAccessLog } from '@weir/testkit/sample-access-log';
import { runProgram, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import type { Browser, Locator, Page } from 'playwright-core';
import { openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, launchChromium } from './use-browser.ts';

const ENTRY = join(__dirname, '../../packages/embedded-clickhouse/src/clickhouse-server.ts');
const WITHIN_MS = 180_000;
const STEP_WITHIN_MS = 60_000;
const RESERVE_MB = 321;
const LETTERS = 60;
const HITS = 20;
const IMPORTED_LINES = 200;
const DESKTOP = { width: 1280, height: 900 };
/** A row with three lines of text is lower. */
const ROW_HEIGHT_MAX_PX = 85;
const DIGEST = 'ab'.repeat(32);

describeBrowser('the pipeline page with everything that an operator can meet', () => {
  let folder: string;
  let weir: WeirProcess;
  let browser: Browser;
  let site: string;
  let page: Page;
  let errors: string[];
  const card = (id: string): Locator => page.locator(`[data-testid=${id}]`);
  const shows = (id: string, text: string | RegExp): Promise<void> => card(id).getByText(text).first().waitFor();

  /** Stops Weir, runs statements in its ClickHouse, and starts Weir again. */
  async function changeTables(...statements: readonly string[]): Promise<void> {
    await weir.terminate();
    const engine = await startEmbeddedClickhouse({
      dataDir: weir.dataDir,
      entry: ENTRY,
      logger: createLogger('error'),
    });
    await engine.ready();
    const headers = { 'x-clickhouse-user': engine.username, 'x-clickhouse-key': engine.password };
    const answers = await Promise.all(
      statements.map((body) => fetch(engine.url, { method: 'POST', headers, body }).then((answer) => answer.ok)),
    );
    await engine.close();
    expect(answers).toEqual(statements.map(() => true));
    await weir.restart();
  }

  async function importLog(): Promise<void> {
    const file = join(folder, 'access.log');
    writeFileSync(file, readAccessLog().text.split('\n').slice(0, IMPORTED_LINES).join('\n'));
    const env = { WEIR_URL: weir.url, WEIR_ADMIN_TOKEN: weir.client.adminToken };
    const { code, stderr } = await runProgram('weir.js', ['import', file, '--site', site, '--json'], env);
    if (code !== 0) throw new Error(stderr);
    // Begins an import that no program continues, so it stays unfinished.
    await weir.client.must(200, 'POST', `/sites/${site}/imports`, { file_digest: DIGEST });
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-pipeline-'));
    weir = await startWeir({
      env: {
        ARCHIVE_URL: `file://${join(folder, 'archive')}`,
        ARCHIVE_LINGER_SECONDS: '1',
        WEIR_DISK_RESERVE_MB: String(RESERVE_MB),
        WEIR_GUARD_INTERVAL_SECONDS: '1',
      },
    });
    const { client } = weir;
    site = await client.createSite({ name: 'Pipeline' });
    await changeTables(
      "ALTER TABLE weir.records ADD CONSTRAINT no_bad CHECK NOT startsWith(event_name, 'bad')",
      'ALTER TABLE weir.records MODIFY SETTING non_replicated_deduplication_window = 123',
    );
    const { key } = await client.createKey(site);
    const events = Array.from({ length: 2 * LETTERS }, (_, nth) => ({
      name: nth % 2 === 0 ? 'bad' : 'good',
      user_id: `user-${nth}`,
      properties: { order: `order-${nth}`, email: 'ada@example.com' },
    }));
    await client.sendBatch(key, events);
    const dead = async () => (await client.number('SELECT count() FROM dead_letters')) === LETTERS;
    await eventually('the dead letters', dead, WITHIN_MS);
    await importLog();
    await client.must(201, 'POST', '/backups', { to: `file://${join(folder, 'backup')}` });
    const done = async () => ((await client.must(200, 'GET', '/backups/current')) as { state: string }).state;
    await eventually('the backup', async () => (await done()) === 'done', WITHIN_MS);
    browser = await launchChromium();
    const context = await browser.newContext({ locale: 'en', viewport: DESKTOP });
    context.setDefaultTimeout(STEP_WITHIN_MS);
    ({ page, errors } = await openDashboard({ weir, context: async () => context }, '/pipeline'));
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await weir?.stop();
    rmSync(folder, { recursive: true });
  }, 60_000);

  test('consumers, their partitions, dead letters, books, minutes and imports', async () => {
    const consumers = card('consumers').locator('tbody tr');
    await consumers.filter({ hasText: 'events.raw' }).filter({ hasText: 'enricher' }).waitFor();
    // At least one consumer shows the number of its dead letters.
    await consumers
      .filter({ hasText: String(LETTERS) })
      .first()
      .waitFor();
    await card('consumers').locator('summary').click();
    await eventually('the offsets of the partitions', async () => {
      const ends = await card('consumers').locator('details tbody tr td:nth-child(3)').allTextContents();
      return ends.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0) > 4 * LETTERS;
    });

    await shows('books', 'Every record is accounted for.');
    await card('books')
      .locator('tr', { hasText: 'Dead' })
      .filter({ hasText: String(LETTERS) })
      .first()
      .waitFor();
    await card('books').locator('[data-testid=minutes] summary').click();
    await card('minutes')
      .locator('tbody tr', { hasText: `Dead letter ${LETTERS}` })
      .filter({ hasText: 'agrees' })
      .filter({ has: page.locator('[title=dead]') })
      .waitFor();

    await shows('dead-letters', `${LETTERS} dead letters`);
    expect(await card('dead-letters').locator('tbody tr').count()).toBe(50);
    await card('dead-letters').getByRole('button', { name: 'Next page' }).click();
    await eventually('the second page', async () => (await card('dead-letters').locator('tbody tr').count()) === 10);
    // The button that was clicked is gone.
    expect(await page.evaluate('document.activeElement.id')).toBe('dead-letters');
    const letter = card('dead-letters').locator('tbody tr').first();
    expect(await letter.textContent()).toMatch(/Pipeline|write/i);
    await letter.getByRole('button', { name: /^Show/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('pre', { hasText: 'bad' }).first().waitFor();
    expect(await dialog.textContent()).toContain('VIOLATED_CONSTRAINT');
    expect(await dialog.textContent()).not.toContain('ada@example.com');
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');

    const imports = card('jobs').locator('tbody tr');
    await imports.filter({ hasText: 'not finished' }).waitFor();
    await imports
      .filter({ hasText: 'finished' })
      .filter({ hasText: String(IMPORTED_LINES) })
      .waitFor();
    // On a phone, the table scrolls sideways, and the text of the state needs few lines.
    await page.setViewportSize({ width: 390, height: 844 });
    const unfinished = await imports.filter({ hasText: 'not finished' }).boundingBox();
    expect(unfinished?.height).toBeLessThan(ROW_HEIGHT_MAX_PX);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.setViewportSize(DESKTOP);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('the archive, the backup, the settings that drifted and the reserve of the disk', async () => {
    const jobs = card('jobs');
    for (const topic of ['events.raw', 'events.enriched']) {
      await jobs.locator('li', { hasText: topic }).filter({ hasText: 'complete' }).waitFor({ timeout: WITHIN_MS });
    }
    await shows('jobs', new RegExp(`^To file://${join(folder, 'backup')}, completed `));
    await shows('installation', 'These settings can lose or double records.');
    await shows('installation', 'records: non_replicated_deduplication_window is 123, not 10000 or more');
    await shows('installation', `Weir leaves ${RESERVE_MB} MiB free.`);
    await shows('installation', /[\d.,]+ \wiB of [\d.,]+ \wiB free\./);
    expect(await violationsOf(page)).toEqual([]);
  });

  test('dead letters are redriven: those that fail again stay, with their problem', async () => {
    await page.reload();
    await card('dead-letters').getByRole('button', { name: 'Redrive 50' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await shows('dead-letters', '0 processed, 50 left.');
    expect(await page.evaluate('document.activeElement.id')).toBe('dead-letters');
    // On a busy machine, Weir has not processed all of the 50 records yet. The test waits until all have failed: records that are processed after
    // the constraint is dropped would be stored.
    const deadAgain = "SELECT count() FROM records WHERE outcome = 'dead'";
    await eventually(
      'all 50 to fail again',
      async () => (await weir.client.number(deadAgain)) === LETTERS + 50,
      WITHIN_MS,
    );
    await changeTables('ALTER TABLE weir.records DROP CONSTRAINT no_bad');
    await weir.client.settled();
    for (const left of [LETTERS - 50, 0]) {
      await page.reload();
      await card('dead-letters')
        .getByRole('button', { name: /^Redrive/ })
        .first()
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
      await shows('dead-letters', /\d+ processed, 0 left\./);
      await shows('dead-letters', left === 0 ? 'There are no dead letters.' : `${left} dead letters`);
    }
    expect(await violationsOf(page)).toEqual([]);
  });

  test('a replay in progress', async () => {
    await weir.client.must(201, 'POST', '/replays', { from: 'enriched', records_per_second_max: 20 });
    await page.reload();
    await shows('jobs', /^From enriched since/);
    await card('jobs').getByRole('progressbar', { name: 'Replay' }).waitFor();
    await shows('jobs', /^From enriched since .*\. (The second set of tables|Rows|Records) .*\.$/);
    await shows('jobs', /^[1-9]\d* of \d+$/);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors.filter((text) => !text.includes('Failed to load resource'))).toEqual([]);
  });

  test('the lag is shown while ClickHouse does not answer', async () => {
    await page.reload();
    const row = card('consumers').locator('tbody tr', { hasText: 'events.enriched' }).first();
    await row.waitFor();
    const clickhouse = weir.clickhousePid();
    process.kill(clickhouse, 'SIGSTOP');
    try {
      const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
      for (let nth = 0; nth < HITS; nth++) await weir.client.collect(hit);
      const cells = async () => (await row.locator('td').allTextContents()).join(' ');
      await eventually('the lag', async () => (await cells()).startsWith(`weir-writer ${HITS} `), WITHIN_MS);
      // The number of dead letters is in ClickHouse, which does not answer.
      expect((await row.locator('td').allTextContents())[3]).toBe('?');
      await shows('consumers', 'ClickHouse does not answer.');
      await shows('dead-letters', /ClickHouse does not respond/);
      expect(await violationsOf(page)).toEqual([]);
    } finally {
      process.kill(clickhouse, 'SIGCONT');
    }
    await eventually('no lag', async () => (await row.locator('td').nth(1).textContent()) === '0', WITHIN_MS);
  });

  test('alarms, errors, an archive that stopped, an audit that does not balance, and a full disk, in answers that the test changed', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the test changes fields of answers
    const change = (path: RegExp, edit: (data: any) => void) =>
      page.route(path, async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        edit(body.data);
        await route.fulfill({ response, json: body });
      });
    await change(/\/api\/admin\/pipeline$/, ([raw, enriched]) => {
      raw.rate_per_second = 12_345;
      raw.partitions[0].last_error = 'the enricher failed';
      enriched.alarm = 'the writer stopped';
    });
    await change(/\/api\/admin\/audit$/, (audit) => {
      audit.balanced = false;
    });
    await change(/\/minutes/, (books) => {
      books.balanced = false;
      books.minutes.at(-2).balanced = false;
    });
    await change(/\/installation$/, ({ disks: [disk], archive }) => {
      disk.is_full = true;
      archive.topics[0].last_error = `cannot store ${'a'.repeat(200)} in the archive`;
      archive.topics[1].alarm = 'the archiver stopped';
    });
    await page.reload();
    await shows('consumers', 'Needs attention: a partition reports an error.');
    await shows('consumers', '12,345');
    await shows('consumers', 'the writer stopped');
    await card('consumers').locator('summary').click();
    await shows('consumers', 'the enricher failed');
    await shows('jobs', /cannot store a+ in the archive/);
    await shows('jobs', 'the archiver stopped');
    await shows('books', /Run weir audit/);
    await card('books').locator('.minutes .wrong').waitFor();
    await card('books').locator('[data-testid=minutes] summary').click();
    await card('minutes').locator('tbody tr', { hasText: 'does not agree' }).waitFor();
    await shows('installation', 'The disk is nearly full. Weir accepts no records until there is free space.');
    expect(await violationsOf(page)).toEqual([]);
    // On a phone, a long path in an error is broken into lines.
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    // The page repeats its requests, and the test can be changing the answer to one while the browser closes. Without this call, the suite would
    // then fail.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});
