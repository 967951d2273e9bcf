import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../../services/control/test/control-harness.ts';
import type { Lane } from '../reports-model/report-lanes.ts';
import { violationsOf } from './dashboard-page.ts';
import { type MarkedDashboard, openMarkedDashboard } from './marked-dashboard.ts';
import { mark, markedHit, USER_ID } from './marked-traffic.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { describeBrowser, STEP_WITHIN_MS } from './use-browser.ts';

describeBrowser(
  'every page of the dashboard, on an imported access log and on live hits with markup in each text',
  () => {
    let marked: MarkedDashboard;
    let lane: Lane;
    let elsewhere: PageServer;
    let site = '';
    let page: Page;
    const url = (): string => lane.client.urls[0] ?? '';
    const open = (path: string) => page.goto(`${url()}/dashboard${path.replace('SITE', site)}`);
    const expectTexts = (...fields: readonly string[]): Promise<void> => marked.expectTexts(...fields);

    beforeAll(async () => {
      marked = await openMarkedDashboard();
      ({ lane, site, page } = marked);
      elsewhere = await startPageServer();
    }, 300_000);
    afterAll(async () => {
      await elsewhere?.close();
      await marked?.close();
    });

    beforeEach(() => {
      marked.errors.length = 0;
    });

    test('all sites', async () => {
      await open('');
      await expectTexts('site');
      expect(await violationsOf(page)).toEqual([]);
    });

    test('realtime, with a record that arrives', async () => {
      await open('/sites/SITE/realtime');
      const live = page.locator('[data-testid=live]');
      await live.getByText('Waiting for the next record').waitFor();
      const hit = markedHit(site, { type: 'event', event_name: mark('live') });
      // Sends the hit repeatedly, because the page may not be listening yet when the first one arrives.
      await eventually('the record', async () => {
        await lane.client.collect(hit, { 'x-forwarded-for': '8.8.8.8' });
        return (await live.locator('.live-list summary').count()) > 0;
      });
      await live.locator('.live-list summary').first().click();
      await expectTexts('path', 'live', 'utm_term');
      expect(await violationsOf(page)).toEqual([]);
    });

    test.each([
      ['goals', '/sites/SITE/goals?period=all', '[data-testid=goals]', ['goal', 'event']],
      [
        'funnels',
        `/sites/SITE/funnels?period=all&step=event:${mark('event')}&step=page:*`,
        '.funnel',
        ['event', 'saved funnel', 'path'],
      ],
      ['retention', '/sites/SITE/retention?period=7d', '.cohorts', []],
      ['journeys', `/sites/SITE/journeys?period=7d&page=/${mark('path')}`, '[data-testid=next]', ['path']],
      ['people', '/sites/SITE/people', '[data-testid=people] tbody', ['name', 'trait']],
      [
        'a person',
        `/sites/SITE/people#user=${encodeURIComponent(USER_ID)}`,
        '[data-testid=timeline] li',
        ['user', 'name', 'event', 'trait value'],
      ],
      ['settings', '/sites/SITE/settings', '[data-testid=keys]', ['key', 'viewer', 'rule']],
      ['an unknown site', `/sites/${encodeURIComponent(mark('unknown'))}/overview`, '.empty', ['unknown']],
      ['an unknown page', `/${encodeURIComponent(mark('unknown'))}`, '.empty', []],
    ])('%s', async (_, path, ready, fields) => {
      await open(path);
      await page.waitForSelector(ready);
      await expectTexts(...fields);
      expect(await violationsOf(page)).toEqual([]);
    });

    test('the pipeline, with the payload of a dead letter', async () => {
      await open('/pipeline');
      await page
        .getByRole('button', { name: /^Show .+/ })
        .first()
        .click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('pre', { hasText: 'onerror=hacked' }).first().waitFor();
      await expectTexts();
      expect(await violationsOf(page)).toEqual([]);
    });

    test('SQL, with markup as the name of a column', async () => {
      await open('/sql');
      const editor = page.getByRole('textbox', { name: 'Statement' });
      await editor.press('Control+a');
      await page.keyboard.insertText(`SELECT event_name AS \`${mark('column')}\` FROM events WHERE event_name != '' `);
      await editor.press('Control+Enter');
      await page.locator('[data-testid=sql-result], [role=alert]').first().waitFor();
      expect(await page.getByRole('alert').allTextContents()).toEqual([]);
      await expectTexts('column', 'event');
      expect(await violationsOf(page)).toEqual([]);
    });

    test('a page of another origin cannot show the dashboard in a frame, change anything, or read anything', async () => {
      const form = `<form method="post" enctype="text/plain" action="${url()}/api/admin/sites"><input name='{"name":"x","domain":"evil.example","a":"' value='"}'></form>`;
      elsewhere.serve(() => ({ html: `<iframe src="${url()}/dashboard"></iframe>${form}` }));
      // The first origin differs from Weir only in the port. It is therefore the same site, and the browser sends the cookie. The second origin is
      // another host.
      for (const origin of [elsewhere.url, elsewhere.url.replace('127.0.0.1', 'localhost')]) {
        const attacker = await page.context().newPage();
        await attacker.goto(origin);
        const framed = attacker.frames().find((frame) => frame !== attacker.mainFrame());
        await framed?.waitForLoadState().catch(() => undefined);
        expect(await framed?.evaluate('document.body.innerText.includes("Weir")').catch(() => false)).toBe(false);
        const read = await attacker.evaluate<string>(
          `fetch('${url()}/api/admin/sites', { credentials: 'include' }).then((answer) => answer.text(), () => 'refused')`,
        );
        expect(read).toBe('refused');
        await attacker.evaluate(
          `fetch('${url()}/api/admin/sites/${site}', { method: 'DELETE', credentials: 'include' }).catch(() => 0)`,
        );
        const answered = attacker.waitForResponse((answer) => answer.url().endsWith('/api/admin/sites'));
        await attacker.evaluate('document.forms[0].submit()');
        expect([401, 403]).toContain((await answered).status());
        await attacker.close();
      }
      const sites = (await lane.client.must(200, 'GET', '/sites')) as readonly { site_id: string }[];
      expect(sites.map(({ site_id }) => site_id)).toEqual([site]);
    });

    test('the sign-in has no violation, and stays on this host whatever the address says', async () => {
      const context = await marked.browser.newContext({ locale: 'en' });
      context.setDefaultTimeout(STEP_WITHIN_MS);
      const entry = await context.newPage();
      const address = `${url()}/dashboard//example.com/?next=https://example.com/&url=javascript:alert(1)#https://example.com`;
      await entry.goto(address);
      await entry.getByLabel('Admin or viewer token').waitFor();
      expect(await violationsOf(entry)).toEqual([]);
      await entry.getByLabel('Admin or viewer token').fill(ADMIN_TOKEN);
      await entry.getByLabel('Admin or viewer token').press('Enter');
      await entry.waitForSelector('#navigation', { state: 'attached' });
      expect(new URL(entry.url()).origin).toBe(url());
      await context.close();
    });
  },
);
