import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import type { Locator, Page } from 'playwright-core';
import { holdRequests, offered, violationsOf } from './dashboard-page.ts';
import { openMarkedDashboard } from './marked-dashboard.ts';
import { mark } from './marked-traffic.ts';
import { describeBrowser } from './use-browser.ts';

/** The tabs of each panel. The fields after the name of a tab are those whose texts the tab shows. */
const TABS: Readonly<Record<string, readonly (readonly [tab: string, ...fields: string[]])[]>> = {
  pages: [
    ['Pages', 'path'],
    ['Entries', 'path'],
    ['Exits', 'path'],
    ['Hosts', 'host'],
  ],
  sources: [
    ['Sources', 'utm_source'],
    ['Channels'],
    ['Referrers'],
    ['Campaigns', 'utm_campaign'],
    ['utm_source', 'utm_source'],
    ['utm_medium', 'utm_medium'],
    ['utm_term', 'utm_term'],
    ['utm_content', 'utm_content'],
  ],
  places: [['Map'], ['Countries'], ['Regions'], ['Cities'], ['Languages']],
  devices: [['Browsers'], ['Versions'], ['Systems'], ['System versions'], ['Devices']],
  events: [['Events', 'event'], ['Property', 'value'], ['Sent by']],
  bots: [['Bots'], ['Reasons']],
};
const TABS_MAX = Math.max(...Object.values(TABS).map((tabs) => tabs.length));

describeBrowser('the overview, on an imported access log and on live hits with markup in each text', () => {
  let page: Page;
  const marked = useOpened(openMarkedDashboard, { openMs: 300_000 });
  beforeAll(async () => {
    ({ page } = marked);
  }, 300_000);
  beforeEach(() => {
    marked.errors.length = 0;
  });

  const panel = (id: string): Locator => page.locator(`[data-panel=${id}]`);
  const open = (query: string, site = marked.site) =>
    page.goto(`${marked.lane.client.urls[0]}/dashboard/sites/${site}/overview?${query}`);
  const answered = () =>
    eventually('all answers', async () => {
      const filled = await page.locator('[data-panel] :is(.bar-row, .map path, .empty, .note)').count();
      return filled > 0 && (await page.locator('.loading, .old').count()) === 0;
    });

  /** Selects the tab with this index in each panel that has such a tab. Returns the panels, and the fields that their tabs show. */
  async function selectTabs(index: number): Promise<readonly (readonly [id: string, fields: readonly string[]])[]> {
    const selected: (readonly [string, readonly string[]])[] = [];
    for (const [id, tabs] of Object.entries(TABS)) {
      const [name, ...fields] = tabs[index] ?? [];
      if (name === undefined) continue;
      await panel(id).getByRole('tab', { name, exact: true }).click();
      if (name === 'Property') {
        await panel(id).getByLabel('Name of the property').fill(mark('property'));
        await panel(id).getByRole('button', { name: 'Show' }).click();
      }
      selected.push([id, fields]);
    }
    await answered();
    return selected;
  }

  test('each tab of each panel is in this test', async () => {
    await open('period=7d');
    await page.waitForSelector('[data-panel=bots]');
    const shown = Object.keys(TABS).map(async (id) => [id, await panel(id).getByRole('tab').allTextContents()]);
    const known = Object.entries(TABS).map(([id, tabs]) => [id, tabs.map(([name]) => name)]);
    expect(await Promise.all(shown)).toEqual(known);
    expect(await page.locator('[data-panel]').count()).toBe(known.length);
  });

  test.each(Array.from({ length: TABS_MAX }, (_, index) => index))(
    'tab %i of each panel shows markup of live hits as text',
    async (index) => {
      await open('period=7d');
      for (const [id, fields] of await selectTabs(index)) {
        for (const field of fields) {
          // The attribute `title` has the whole text, which the row can cut off.
          const row = panel(id)
            .locator('.bar-row', { hasText: mark(field) })
            .first();
          expect(await row.getAttribute('title')).toContain(mark(field));
        }
      }
      await marked.expectTexts();
      expect(await violationsOf(page)).toEqual([]);
    },
  );

  test('the totals are copied as commands that ask for the comparison too, with the admin token of the commands of Weir', async () => {
    await open('period=7d&compare=previous_year');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const series = page.locator('.series');
    for (const [name, parameter] of [
      ['Copy as curl', 'compare=previous_year'],
      ['Copy as curl', 'Bearer $WEIR_ADMIN_TOKEN"'],
      ['Copy as weir command', '--compare previous_year'],
    ] as const) {
      await series.getByRole('button', { name: /More/ }).click();
      await page.getByRole('menuitem', { name }).click();
      await eventually(name, async () =>
        (await page.evaluate<string>('navigator.clipboard.readText()')).includes(parameter),
      );
    }
  });

  test('the values of a property are listed, explained, saved as CSV, and copied as SQL that gives them', async () => {
    await open('period=7d');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const events = panel('events');
    await events.getByRole('tab', { name: 'Property', exact: true }).click();
    expect(await events.getByRole('button', { name: 'Explain' }).count()).toBe(0);
    await events.locator('[data-testid=properties] .bar-row', { hasText: mark('property') }).click();
    await events.locator('.bar-row', { hasText: mark('value') }).waitFor();
    expect(await events.getByLabel('Name of the property').inputValue()).toBe(mark('property'));
    expect(await offered(page)).toEqual(expect.arrayContaining([mark('property'), 'plan']));
    await events.getByRole('button', { name: 'All values' }).click();
    await page
      .getByRole('dialog')
      .locator('tbody tr', { hasText: mark('value') })
      .waitFor();
    await page.keyboard.press('Escape');
    await events.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('dialog').locator('pre', { hasText: 'FROM' }).first().waitFor();
    await page.keyboard.press('Escape');
    const choose = async (name: string) => {
      await events.getByRole('button', { name: /More/ }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    const download = page.waitForEvent('download');
    await choose('Save as CSV');
    expect((await download).suggestedFilename()).toMatch(/property.*\.csv$/);
    await events.getByText('The file is saved.').waitFor();
    await choose('Copy SQL');
    await events.getByText('Copied').waitFor();
    await events.getByRole('tab', { name: 'Events', exact: true }).click();
    await events.getByText('Copied').waitFor({ state: 'detached' });
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const [, sql = '', params = ''] = /^-- breakdown\n([\s\S]*)\n-- params: (.*)$/.exec(copied) ?? [];
    const rows = await marked.lane.client.sql(sql, JSON.parse(params));
    expect(rows.map(({ name }) => name)).toContain(mark('value'));
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'SQL' }).click();
    const editor = page.getByRole('textbox', { name: 'Statement' });
    await editor.press('Control+a');
    await editor.press('Control+v');
    // Chromium confirms the key press before it has pasted the text, so the test waits for the text.
    await editor.filter({ hasText: '-- params:' }).waitFor();
    await editor.press('Control+Enter');
    await page.locator('[data-testid=sql-result] td', { hasText: mark('value') }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  test('a filter, all values, and a note show markup as text', async () => {
    await open('period=7d');
    await panel('pages')
      .locator('.bar-row', { hasText: mark('path') })
      .click();
    await page.locator('.chip', { hasText: mark('path') }).waitFor();
    await page.locator('.chart-note', { hasText: mark('note') }).waitFor();
    await panel('pages').getByRole('button', { name: 'All values' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: mark('path') }).waitFor();
    await dialog.getByLabel('Search').fill(mark('path'));
    await eventually('the searched values', async () => (await dialog.locator('tbody tr').count()) === 1);
    await answered();
    await marked.expectTexts('path');
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await panel('pages').getByRole('button', { name: 'Explain' }).click();
    await dialog.locator('pre').first().waitFor();
    // The outcome has a label, and the name that SQL uses.
    await dialog.locator('tr', { hasText: /^Dead letter dead / }).waitFor();
    await marked.expectTexts('path');
    expect(await violationsOf(page)).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'the imported log in the %s theme has no violation of WCAG 2.2 AA in any tab, nor with a dialog',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await open('period=all');
      await page.waitForSelector('[data-panel=pages] .bar-row');
      for (let index = 0; index < TABS_MAX; index++) {
        await selectTabs(index);
        expect({ index, violations: await violationsOf(page) }).toEqual({ index, violations: [] });
      }
      await page.locator('.series').getByRole('button', { name: 'Explain' }).click();
      await page.getByRole('dialog').locator('pre').first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await panel('sources').getByRole('button', { name: 'All values' }).click();
      await page.getByRole('dialog').locator('tbody tr').first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(marked.errors).toEqual([]);
    },
  );

  test('on a phone, the list of countries before the map takes as much space as the map', async () => {
    const before = page.viewportSize() ?? { width: 1280, height: 900 };
    await page.setViewportSize({ width: 390, height: 844 });
    const file = await holdRequests(page, /\/assets\/countries-[^/]*\.json$/);
    await open('period=7d');
    await panel('places').locator('.bar-row').first().waitFor();
    const place = await panel('places').locator('.map-place').boundingBox();
    await file.release();
    await panel('places').locator('.land').first().waitFor();
    expect(await panel('places').locator('.bar-row').count()).toBe(0);
    const map = await panel('places').locator('.map').boundingBox();
    expect([map?.width, Math.round(map?.height ?? 0)]).toEqual([place?.width, Math.round(place?.height ?? 0)]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.setViewportSize(before);
  });

  test('the map colours only countries that are known, and names the number of the other visitors', async () => {
    await page.route(/\/breakdown\?.*dimension=country/, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: { rows: object[] } };
      const row = { pageviews: 1, visits: 1, events: 0, bounce_rate: 0, visit_duration: 0, views_per_visit: 1 };
      const visitors = { '': 1_234, XK: 2, SO: 1 };
      body.data.rows = Object.entries(visitors).map(([value, number]) => ({ ...row, value, visitors: number }));
      await route.fulfill({ response, json: body });
    });
    await open('period=7d');
    await panel('places').getByText('Visitors without a known country: 1,234').waitFor();
    expect(await panel('places').locator('.land.seen').count()).toBe(2);
    await panel('places').locator('.land.seen').first().hover();
    await panel('places')
      .locator('.map-tip', { hasText: /^(?:Somalia|Kosovo)/ })
      .waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});
