import { eventually } from '@weir/testkit/eventually';
import type { Page } from 'playwright-core';
import { holdRequests, openDashboard, violationsOf } from './dashboard-page.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

const HITS = 120;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';
const MARKUP = `<img src=x onerror="document.title='broken'"> & <b>"O'Brien"</b>`;

describeBrowser('the dashboard', () => {
  const browser = useBrowser();
  const metric = (page: Page, name: string) => page.textContent(`[data-metric=${name}]`);

  test('refuses a wrong token, stays signed in after a reload, and signs out', async () => {
    const page = await (await browser.context({ locale: 'en' })).newPage();
    await page.goto(`${browser.weir.url}/`);
    const token = page.getByLabel('Admin or viewer token');
    await token.fill('wrong');
    await token.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Weir does not know this token' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await token.fill(browser.weir.client.adminToken);
    await token.press('Enter');
    await page.getByRole('heading', { name: 'All sites' }).waitFor();
    expect(await page.evaluate('document.cookie + localStorage.length + sessionStorage.length')).toBe('00');
    await page.reload();
    await page.getByRole('heading', { name: 'All sites' }).waitFor();
    await page.getByRole('button', { name: 'Administrator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await token.waitFor();
    expect(await page.title()).toBe('Sign in · Weir');
    await page.reload();
    await token.waitFor();
  });

  test('shows numbers and lists of live hits, filters by a click, and keeps the filter in the address', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: MARKUP });
    const hit = { site_id: site, type: 'pageview' };
    const send = (visitor: string, url: string, more: object = {}) =>
      client.collect(
        { ...hit, visitor_id: visitor, session_id: `s${visitor}`, url, ...more },
        { 'user-agent': FIREFOX },
      );
    await send('v1', 'https://example.com/');
    await send('v1', 'https://example.com/pricing');
    await send('v2', `https://example.com/${encodeURIComponent(MARKUP)}`, { referrer: 'https://www.google.com/' });
    await send('v2', 'https://example.com/', { type: 'event', event_name: MARKUP });
    await browser.rows(site, 4);

    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview`);
    await page.waitForSelector('[data-metric=visitors]');
    expect(await page.title()).toBe(`${MARKUP} · Weir`);
    await eventually('the numbers', async () => (await metric(page, 'pageviews')) === '3');
    expect(await metric(page, 'visitors')).toBe('2');
    expect(await metric(page, 'events')).toBe('1');
    const rows = page.locator('[data-panel=pages] .bar-text');
    await rows.first().waitFor();
    // The page shows decoded paths. Escapes of characters that divide a URL, such as `/`, stay.
    const shown = ['/', '/pricing', decodeURI(`/${encodeURIComponent(MARKUP)}`)];
    expect((await rows.allTextContents()).toSorted()).toEqual(shown.toSorted());
    await page.locator('[data-panel=events] .bar-text', { hasText: MARKUP }).waitFor();
    expect(await violationsOf(page)).toEqual([]);

    await page.locator('[data-panel=pages] .bar-row', { hasText: '/pricing' }).click();
    await eventually('the filtered numbers', async () => (await metric(page, 'visitors')) === '1');
    expect(new URL(page.url()).searchParams.getAll('filter')).toEqual(['page:is:/pricing']);
    await page.reload();
    await page.locator('.chip', { hasText: '/pricing' }).waitFor();
    await eventually('the filtered numbers', async () => (await metric(page, 'pageviews')) === '1');
    await page.keyboard.press('Escape');
    await eventually('all numbers', async () => (await metric(page, 'visitors')) === '2');
    await page.keyboard.press('d');
    await page.getByRole('button', { name: 'Today' }).waitFor();
    expect(new URL(page.url()).searchParams.get('period')).toBe('today');
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('button', { name: 'Yesterday' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'Today' }).waitFor();
    await page.keyboard.press('c');
    const dates = ['From', 'To, included'].map((name) => page.getByLabel(name).inputValue());
    const today = new Date().toISOString().slice(0, 10);
    expect(await Promise.all(dates)).toEqual([today, today]);
    await page.keyboard.press('Escape');

    await page.locator('.series').getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'What each number means' }).waitFor();
    expect(await page.locator('.explain pre').first().textContent()).toContain('SELECT');
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('a list has all its values in a dialog, searched and ordered by the server, and saves them as CSV', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Many pages' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview' };
    const count = 150;
    await Promise.all(
      Array.from({ length: count }, (_, n) =>
        client.collect(
          { ...hit, url: `https://example.com/${n === 7 ? '=formula' : `page-${n}`}` },
          { 'user-agent': FIREFOX },
        ),
      ),
    );
    await browser.rows(site, count);
    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview`);
    const panel = page.locator('[data-panel=pages]');
    await panel.getByRole('button', { name: 'All values' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('tbody tr').nth(99).waitFor();
    await dialog.getByRole('button', { name: 'Next' }).click();
    await eventually('the second page', async () => (await dialog.locator('tbody tr').count()) === count - 100);
    await dialog.getByRole('searchbox').pressSequentially('page-149');
    await eventually('the match', async () => (await dialog.locator('tbody tr').count()) === 1);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await panel.getByRole('button', { name: /More/ }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Save as CSV' }).click();
    const stream = await (await download).createReadStream();
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\r\n');
    expect(lines).toHaveLength(count + 1);
    expect(lines[0]).toBe('\ufeffpage,visitors,visits,pageviews,events,views_per_visit,bounce_rate,visit_duration');
    expect(errors).toEqual([]);
  });

  test('shows how the client IP was found, warns of a site whose hits come from one network, and shows the books', async () => {
    const { client } = browser.weir;
    const site = await client.createSite({ name: 'Behind a proxy' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await Promise.all(Array.from({ length: HITS }, () => client.collect(hit)));
    await client.settled();
    const { page, errors } = await openDashboard(browser, '', { extraHTTPHeaders: { 'x-forwarded-for': '8.8.8.8' } });
    await page.locator('.warnings li', { hasText: site }).waitFor();
    expect(await page.locator('.warnings li', { hasText: site }).textContent()).toBe(
      `${site}: at least 100 % of the last ${HITS} hits come from one private network: a proxy that is ` +
        'missing in TRUSTED_PROXIES, or machines of your own.',
    );
    await page.getByRole('link', { name: 'Pipeline' }).click();
    await page.waitForSelector('[data-testid=whoami] td');
    const whoami = await page.textContent('[data-testid=whoami]');
    expect(whoami).toContain('Address127.0.0.1');
    expect(whoami).toContain('Sent x-forwarded-for8.8.8.8');
    expect(whoami).toContain('127.0.0.1, which is not in TRUSTED_PROXIES');
    await page.getByText('Every record is accounted for.').waitFor();
    await page.getByText('Live: every record is processed as it arrives.').waitFor();
    await page.locator('[data-testid=minutes] summary').click();
    await page.locator('[data-testid=minutes] tbody tr', { hasText: 'agrees' }).first().waitFor();
    const installation = page.locator('[data-testid=installation]');
    await installation.getByText('All settings are as Weir needs them.').waitFor();
    expect(await installation.getByRole('progressbar', { name: 'Used space of data folder' }).count()).toBe(1);
    await page.locator('[data-testid=jobs]').getByText('There is no replay.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('a new site shows how to install Weir, and its reports as soon as the first hit arrives', async () => {
    const { page, errors } = await openDashboard(browser);
    await page.getByRole('button', { name: 'Add site' }).click();
    // The page of the new site opens also while the report over all sites is loaded again.
    const overview = /\/api\/admin\/stats\?/;
    await page.route(overview, () => undefined);
    // Key by key, because a dialog that moved the focus after each letter would pass a test that fills the field at once.
    await page.getByLabel('Domain').pressSequentially('new.example.com');
    await page.getByRole('textbox', { name: 'Name' }).pressSequentially('New site');
    expect(await page.getByLabel('Domain').inputValue()).toBe('new.example.com');
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('New site');
    await page.getByRole('dialog').getByRole('button', { name: 'Add site' }).click();
    await page.getByText('Waiting for the first hit').waitFor();
    await page.unroute(overview);
    const siteId = page.url().match(/sites\/([^/]+)/)?.[1] ?? '';
    expect(await page.locator('.install pre').first().textContent()).toBe(browser.tag(siteId).replace(' ></', '></'));
    await page.getByText('If the gateway has another address than this page').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const hit = {
      site_id: siteId,
      visitor_id: 'v',
      session_id: 's',
      type: 'pageview',
      url: 'https://new.example.com/',
    };
    await browser.weir.client.collect(hit, { 'user-agent': FIREFOX });
    // The page repeats the request after 3 s, and later on a busy machine.
    await page.locator('.install').waitFor({ state: 'detached', timeout: 120_000 });
    await eventually('the first pageview', async () => (await metric(page, 'pageviews')) === '1');

    await page.getByRole('link', { name: 'All sites' }).click();
    const cards = page.locator('.site-card');
    await cards.filter({ hasText: 'new.example.com' }).filter({ hasText: '1 visitor now' }).waitFor();
    await page.getByRole('searchbox').fill('NEW.example');
    await eventually('one site', async () => (await cards.count()) === 1);
    expect(await violationsOf(page)).toEqual([]);
    await cards.press('Enter');
    await page.waitForSelector('[data-metric=visitors]');
    await eventually('the focus', async () => (await page.evaluate('document.activeElement.id')) === 'content');
    await page.goBack();
    await eventually('the same search', async () => (await page.getByRole('searchbox').inputValue()) === 'NEW.example');
    await eventually('one site', async () => (await cards.count()) === 1);
    await page.getByRole('searchbox').fill('no such site');
    await page.getByText('Nothing matches.').waitFor();
    // A browser does not send the fragment, so no proxy logs the search.
    expect(new URL(page.url()).search).toBe('');
    expect(errors).toEqual([]);
  });

  test('a note keeps its draft until it is saved, also if saving fails and the report is loaded again', async () => {
    const site = await browser.weir.client.createSite({ name: 'Notes' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await browser.weir.client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const notes = async () =>
      (await browser.weir.client.must(200, 'GET', `/sites/${site}/annotations`)) as {
        annotation_id: string;
        at: string;
      }[];
    const { page } = await openDashboard(browser, `/sites/${site}/overview?period=year&interval=month`);
    await page.clock.install();
    // The route is set before the page loads, because a request that is sent directly after a new route was set may miss the route.
    await page.route(/\/annotations$/, (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await page.reload();
    await page.getByRole('button', { name: 'Add note' }).click();
    const dialog = page.getByRole('dialog');
    const note = dialog.getByLabel('Note', { exact: true });
    expect(await dialog.getByLabel('Date').inputValue()).toBe(new Date().toISOString().slice(0, 10));
    await note.fill(MARKUP);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'Weir did not answer.' }).waitFor();
    // The dashboard reloads a report within six minutes, even if its answers are slow.
    const again = page.waitForResponse((answer) => answer.url().includes('/stats?'));
    await page.clock.fastForward('06:00');
    await again;
    expect(await note.inputValue()).toBe(MARKUP);
    await page.unroute(/\/annotations$/);
    await dialog.getByRole('button', { name: 'Save' }).click();
    const saved = page.locator('.chart-note', { hasText: MARKUP });
    await saved.waitFor();
    const { client } = browser.weir;
    const [{ annotation_id: id = '' } = {}] = await notes();
    const at = `${new Date().toISOString().slice(0, 10)}T00:00:01.000Z`;
    await client.must(200, 'PATCH', `/sites/${site}/annotations/${id}`, { at });
    await page.reload();
    await saved.click();
    await note.fill('Release');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('.chart-note', { hasText: 'Release' }).waitFor();
    expect(Date.parse((await notes())[0]?.at ?? '')).toBe(Date.parse(at));
    await page.locator('.chart-note', { hasText: 'Release' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: 'Remove this note?' }).getByRole('button', { name: 'Remove' }).click();
    await page.locator('.chart-note').waitFor({ state: 'detached' });
    expect(await browser.weir.client.must(200, 'GET', `/sites/${site}/annotations`)).toEqual([]);
  });

  test('in German and in the dark theme on a phone, without a violation of WCAG 2.2 AA', async () => {
    const site = await browser.weir.client.createSite({ name: 'Handy' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await browser.weir.client.collect(hit, { 'user-agent': FIREFOX });
    await browser.rows(site, 1);
    const phone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' as const };
    const { page, errors } = await openDashboard(browser, `/sites/${site}/overview`, phone);
    await page.waitForSelector('[data-panel=pages] .bar-row');
    expect(await violationsOf(page)).toEqual([]);
    const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
    expect(await fits()).toBe(true);
    const german = await holdRequests(page, /\/assets\/de-[^/]*\.js$/);
    await page.getByRole('button', { name: 'Compare with: Previous period' }).click();
    await page.getByRole('menuitemradio', { name: 'Previous year' }).click();
    await page.getByRole('button', { name: 'Compare with: Previous year' }).waitFor();
    expect(new URL(page.url()).searchParams.get('compare')).toBe('previous_year');
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('button', { name: 'Administrator' }).click();
    await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
    await eventually('the German texts are requested', () => german.count() > 0);
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    await german.release();
    await page.getByText('Besucher', { exact: true }).first().waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('de');
    expect(await fits()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
