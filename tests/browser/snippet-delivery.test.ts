import type { Route } from 'playwright-core';
import { readmeExample } from '../examples/readme-example.ts';
import { describeBrowser, loaded, openBehindGate, useBrowser } from './use-browser.ts';

describeBrowser('delivery from Chromium, by the rows', () => {
  const browser = useBrowser();
  const NAMES = 'type, event_name, pathname, visitor_id, value, value_text, properties';
  const namesOf = async (siteId: string, count: number) =>
    (await browser.rows(siteId, count, NAMES)).map((row) => row.event_name || row.pathname);

  test('offline, then online: all hits arrive once and in order', async () => {
    const siteId = await browser.openSite();
    const context = await browser.context();
    const page = await context.newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await browser.rows(siteId, 1);
    await context.setOffline(true);
    for (const name of ['first', 'second', 'third']) await page.evaluate(`weir.track('${name}')`);
    await context.setOffline(false);
    expect(await namesOf(siteId, 4)).toEqual(['/a', 'first', 'second', 'third']);
  });

  test('hits that are tracked offline are kept when the page is left, and sent with the next page', async () => {
    const siteId = await browser.openSite();
    const { page, gate } = await openBehindGate(browser, siteId);
    // Waits for the failure here and below. If a page is left during a request, the snippet cannot keep the hit of this request for the next page.
    const first = gate.refusal();
    await page.evaluate(`weir.track('kept')`);
    await first;
    await page.evaluate(`weir.track('kept too')`);
    const second = gate.refusal();
    await page.goto(`${browser.site.url}/b`);
    await second;
    gate.isClosed = false;
    await page.reload();
    // The pageview of /b was also refused, and was queued with the others.
    expect(await namesOf(siteId, 5)).toEqual(['/a', 'kept', 'kept too', '/b', '/b']);
    expect(await page.evaluate(`localStorage['weir.q'] || ''`)).toBe('');
  });

  test.each([503, 429, 408])(
    'after %i a hit is retried when Retry-After has passed, and later hits wait',
    async (status) => {
      const siteId = await browser.openSite();
      const page = await (await browser.context()).newPage();
      let refused = 0;
      await page.route('**/api/collect', (route) => {
        if (refused++ > 0) return route.continue();
        const headers = {
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Expose-Headers': 'Retry-After',
          'Retry-After': '1',
        };
        return route.fulfill({ status, headers });
      });
      await page.goto(`${browser.site.url}/a`);
      await loaded(page);
      await page.evaluate(`weir.track('next')`);
      expect(await namesOf(siteId, 2)).toEqual(['/a', 'next']);
      expect(refused).toBe(3);
    },
  );

  test('a Retry-After of a month, too long for a timer, is reduced to an hour', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    await page.clock.install();
    let refused = 0;
    const refuse = (route: Route): Promise<void> => {
      refused += 1;
      const headers = {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': 'Retry-After',
        'Retry-After': '2592000',
      };
      return route.fulfill({ status: 429, headers });
    };
    await page.route('**/api/collect', refuse);
    const answered = page.waitForResponse('**/api/collect');
    await page.goto(`${browser.site.url}/a`);
    await answered;
    await page.clock.fastForward('59:00');
    expect(refused).toBe(1);
    await page.unroute('**/api/collect', refuse);
    await page.clock.fastForward('01:00:00');
    expect(await namesOf(siteId, 1)).toEqual(['/a']);
  });

  test('one path is blocked, as by ad blockers: all hits go to the alias', async () => {
    const siteId = await browser.openSite(
      `data-endpoint="${browser.weir.url}/api/collect ${browser.weir.url}/measure"`,
    );
    const page = await (await browser.context()).newPage();
    await page.route('**/api/collect', (route) => route.abort('blockedbyclient'));
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate(`weir.track('through')`);
    expect(await namesOf(siteId, 2)).toEqual(['/a', 'through']);
  });

  test('an alias may be given as a path, relative to the script', async () => {
    const siteId = await browser.openSite('data-endpoint="/measure"');
    const page = await (await browser.context()).newPage();
    await page.route('**/api/collect', (route) => route.abort('blockedbyclient'));
    await page.goto(`${browser.site.url}/a`);
    expect(await namesOf(siteId, 1)).toEqual(['/a']);
  });

  test('a hit that is too large for the server does not block later hits', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate(`weir.track('too large', { text: 'x'.repeat(70_000) });
      weir.track('large', { text: 'ü'.repeat(12_000) }); weir.track('after')`);
    expect(await namesOf(siteId, 3)).toEqual(['/a', 'large', 'after']);
  });

  test('only the newest 60 hits are queued; more than 64 KiB of them are kept when the page is left', async () => {
    const siteId = await browser.openSite();
    const { page, gate } = await openBehindGate(browser, siteId);
    // Waits for the failure here and below. If a page is left during a request, the snippet cannot keep the hit of this request for the next page.
    const first = gate.refusal();
    await page.evaluate(`for (let n = 1; n <= 65; n++) weir.track('n' + n, { text: 'x'.repeat(2_000) })`);
    await first;
    const second = gate.refusal();
    await page.goto(`${browser.site.url}/b`);
    await loaded(page);
    await second;
    gate.isClosed = false;
    await page.reload();
    const names = await namesOf(siteId, 61);
    expect(names).toHaveLength(61);
    expect(names.slice(-3)).toEqual(['n65', '/b', '/b']);
  });

  test('in a sandbox without storage and cookies, hits are counted without an error', async () => {
    const siteId = await browser.weir.client.createSite();
    const frame = `${browser.tag(siteId)}<script>addEventListener('load', () => { weir.track('one'); })</script>`;
    browser.site.serve((path) => ({
      html: path === '/frame' ? frame : '<iframe sandbox="allow-scripts" src="/frame"></iframe>',
    }));
    const page = await (await browser.context()).newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${browser.site.url}/a`);
    const rows = await browser.rows(siteId, 2, `${NAMES}, session_id`);
    expect(rows.map((row) => row.event_name || row.pathname)).toEqual(['/frame', 'one']);
    expect(rows[1]).toMatchObject({ visitor_id: rows[0]?.visitor_id });
    expect(rows[0]?.visitor_id).toMatch(/^\d{20,40}$/);
    expect(errors).toEqual([]);
  });

  test('events that are tracked while a tab is closed arrive', async () => {
    const siteId = await browser.openSite(
      '',
      `<script>addEventListener('pagehide', () => { weir.track('bye'); weir.track('bye again'); })</script>`,
    );
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.close({ runBeforeUnload: true });
    expect((await namesOf(siteId, 3)).slice().sort()).toEqual(['/a', 'bye', 'bye again']);
  });

  test('the stub keeps calls from before the script has loaded; values, properties and traits keep their types', async () => {
    const siteId = await browser.weir.client.createSite();
    const early = `weir.track('early', { value: 9.5, plan: 'pro', seats: 3, annual: true, note: null });
      weir.track('text', { value: '12.30' }); weir.identify('ada', { email: 'ada@example.com', team: 'x' });`;
    browser.site.serve(() => ({
      html: `<script src="${browser.weir.url}/weir-stub.js"></script><script>${early}</script>${browser.tag(siteId)}`,
    }));
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    const rows = await browser.rows(siteId, 3, NAMES);
    expect(rows.map((row) => row.event_name)).toEqual(['early', 'text', '']);
    expect(rows[0]).toMatchObject({ value: 9.5, properties: { plan: 'pro', annual: true } });
    expect(Number(((rows[0]?.properties ?? {}) as { seats?: unknown }).seats)).toBe(3);
    expect(rows[1]).toMatchObject({ value: 12.3, value_text: '12.30' });
    const [profile] = await browser.rows(siteId, 1, 'user_id, email, traits, visitor_ids', 'profiles');
    expect(profile).toMatchObject({ user_id: 'ada', email: 'ada@example.com', visitor_ids: [rows[0]?.visitor_id] });
  });

  test('a strict content security policy: no inline script, no eval, requests only to Weir', async () => {
    const { url } = browser.weir;
    const siteId = await browser.openSite('', '', {
      'content-security-policy': `default-src 'none'; script-src ${url}; connect-src ${url}; require-trusted-types-for 'script'`,
    });
    const page = await (await browser.context()).newPage();
    const violations: string[] = [];
    page.on('console', (message) => message.type() === 'error' && violations.push(message.text()));
    page.on('pageerror', (error) => violations.push(error.message));
    await page.goto(`${browser.site.url}/a`);
    expect(await namesOf(siteId, 1)).toEqual(['/a']);
    expect(violations).toEqual([]);
  });

  test('a malicious URL and referrer are stored as text and cut to their limits', async () => {
    const siteId = await browser.openSite('data-query="q" data-exclude="/((((a+)+)+)+$" data-outbound');
    const page = await (await browser.context()).newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    const hostile = `/%00%ff%E0%A4%A"'<script>?${'a'.repeat(9_000)}&q=<img%20onerror=x>&&=&%`;
    await page.goto(browser.site.url + hostile, { referer: `https://evil.example/${'%F0'.repeat(3_000)}"</script>` });
    const [row] = await browser.rows(siteId, 1, 'url, referrer, pathname');
    expect(String(row?.url)).toMatch(/\/%00%ff%E0%A4%A%22'%3Cscript%3E\?q=/);
    expect(String(row?.url).length).toBeLessThanOrEqual(4_096);
    expect(String(row?.referrer)).toContain('evil.example');
    expect(errors).toEqual([]);
  });

  test('a page that has the script tag twice counts once', async () => {
    const siteId = await browser.weir.client.createSite();
    browser.site.serve(() => ({ html: browser.tag(siteId).repeat(2) }));
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate(`weir.track('last')`);
    expect(await namesOf(siteId, 2)).toEqual(['/a', 'last']);
  });

  test('the example in README works', async () => {
    const siteId = await browser.weir.client.createSite();
    const html = readmeExample('html', browser.weir.url).replace('data-site="demo"', `data-site="${siteId}"`);
    browser.site.serve(() => ({ html }));
    await (await (await browser.context()).newPage()).goto(`${browser.site.url}/shop`);
    expect(await browser.rows(siteId, 2, 'event_name, pathname, value')).toEqual([
      { event_name: '', pathname: '/shop', value: null },
      { event_name: 'purchase', pathname: '/shop', value: 49 },
    ]);
    expect(await browser.rows(siteId, 1, 'user_id, email', 'profiles')).toEqual([
      { user_id: 'ada', email: 'ada@example.com' },
    ]);
  });

  test('the ES module does the same as the script', async () => {
    const siteId = await browser.weir.client.createSite();
    const code = `import { createWeir } from '${browser.weir.url}/weir.mjs';
      const weir = createWeir({ site: '${siteId}', endpoint: '${browser.weir.url}/api/collect', spa: false });
      weir.pageview(); weir.track('from a module');`;
    browser.site.serve(() => ({ html: `<script type="module">${code}</script>` }));
    await (await (await browser.context()).newPage()).goto(`${browser.site.url}/a`);
    expect(await namesOf(siteId, 2)).toEqual(['/a', 'from a module']);
  });
});
