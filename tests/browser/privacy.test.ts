import { describeBrowser, loaded, openBehindGate, useBrowser } from './use-browser.ts';

describeBrowser('options and wishes in Chromium, by the rows', () => {
  const browser = useBrowser();
  const ROW = 'type, event_name, url, pathname, referrer, visitor_id, session_id, cookieless, value_text, properties';
  const STORED = `JSON.stringify([document.cookie, Object.keys(localStorage), Object.keys(sessionStorage)])`;
  const NOTHING = '["",[],[]]';

  test('cookieless: nothing is stored in the browser, and the server gives the visitor an ID for the day', async () => {
    const siteId = await browser.openSite('data-cookieless');
    const page = await (await browser.context()).newPage();
    for (const path of ['/a', '/b']) await page.goto(`${browser.site.url}${path}`);
    await loaded(page);
    const rows = await browser.rows(siteId, 2, ROW);
    expect(rows.every((row) => row.cookieless && String(row.visitor_id).startsWith('c_'))).toBe(true);
    expect(rows[1]).toMatchObject({ visitor_id: rows[0]?.visitor_id, session_id: rows[0]?.session_id });
    expect(await page.evaluate(STORED)).toBe(NOTHING);
    expect(await page.evaluate('weir.getVisitorId() + weir.getSessionId()')).toBe('');
  });

  test('the mode can change at run time: consent is given and withdrawn', async () => {
    const siteId = await browser.openSite('data-cookieless');
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate(`weir.setCookieless(false); weir.track('known')`);
    expect(await page.evaluate('weir.getVisitorId()')).toMatch(/^\d{20,40}$/);
    await page.evaluate(`weir.setCookieless(true); weir.track('unknown')`);
    expect(await page.evaluate(STORED)).toBe(NOTHING);
    const rows = await browser.rows(siteId, 3, ROW);
    expect(rows.map((row) => [row.event_name, Boolean(row.cookieless)])).toEqual([
      ['', true],
      ['known', false],
      ['unknown', true],
    ]);
  });

  test('Global Privacy Control and Do Not Track: nothing is sent or stored', async () => {
    const siteId = await browser.openSite('data-privacy');
    for (const wish of ['globalPrivacyControl: { value: true }', `doNotTrack: { value: '1' }`]) {
      const context = await browser.context();
      await context.addInitScript(`Object.defineProperties(navigator, { ${wish} })`);
      // A hit in the queue, from a visit before the visitor refused tracking.
      await context.addInitScript(`localStorage['weir.q'] = '["{}"]'`);
      const page = await context.newPage();
      const posts: string[] = [];
      page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()));
      await page.goto(`${browser.site.url}/refused`);
      await loaded(page);
      expect(await page.evaluate(`weir.track('refused'), ${STORED}`)).toBe(NOTHING);
      expect(posts).toEqual([]);
      await page.close();
    }
    await (await (await browser.context()).newPage()).goto(`${browser.site.url}/allowed`);
    expect((await browser.rows(siteId, 1, ROW)).map((row) => row.pathname)).toEqual(['/allowed']);
  });

  test('a visitor who opted out is not counted, also on later pages, until an opt-in', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    const visitor = await page.evaluate('weir.getVisitorId()');
    await page.evaluate(`weir.optOut(); weir.track('refused')`);
    expect(await page.evaluate(STORED)).toBe('["",["weir.off"],[]]');
    await page.goto(`${browser.site.url}/refused`);
    await loaded(page);
    await page.evaluate(`weir.optIn(); weir.track('again')`);
    const rows = await browser.rows(siteId, 2, ROW);
    expect(rows.map((row) => row.event_name || row.pathname)).toEqual(['/a', 'again']);
    expect(rows[1]?.visitor_id).not.toBe(visitor);
  });

  test('an opt-out also removes queued hits', async () => {
    const siteId = await browser.openSite();
    const { page, gate } = await openBehindGate(browser, siteId);
    const refused = gate.refusal();
    await page.evaluate(`weir.track('waiting'); weir.track('waiting too')`);
    await refused;
    await page.evaluate('weir.optOut()');
    gate.isClosed = false;
    await page.reload();
    await loaded(page);
    await page.evaluate(`weir.optIn(); weir.track('again')`);
    const rows = await browser.rows(siteId, 2, ROW);
    expect(rows.map((row) => row.event_name || row.pathname)).toEqual(['/a', 'again']);
  });

  test('an opt-out also removes hits that are queued behind a request in progress when the page is left', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    const sent: string[] = [];
    await page.route('**/api/collect', (route) => {
      const { type, event_name } = route.request().postDataJSON();
      sent.push(event_name ?? type);
      // The first request, which sends the pageview, is never answered. So it is in progress until the page is left.
      return sent.length > 1 ? route.continue() : undefined;
    });
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate(`weir.track('refused'); weir.identify('refused'); weir.optOut()`);
    await page.goto(`${browser.site.url}/b`);
    await loaded(page);
    await page.evaluate(`weir.optIn(); weir.track('again')`);
    const rows = await browser.rows(siteId, 1, ROW);
    expect(rows.map((row) => row.event_name || row.type)).toEqual(['again']);
    expect(sent).toEqual(['pageview', 'again']);
  });

  test('data-spa="false": a history change is not a pageview; data-manual: only calls of the page are pageviews', async () => {
    const siteId = await browser.openSite('data-spa="false" data-manual');
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate(
      `history.pushState({}, '', '/b'); weir.track('before'); history.pushState({}, '', '/c'); weir.pageview()`,
    );
    const rows = await browser.rows(siteId, 2, ROW);
    expect(rows.map((row) => [row.pathname, row.event_name])).toEqual([
      ['/b', 'before'],
      ['/c', ''],
    ]);
  });

  test('data-manual="false": loading the page is a pageview', async () => {
    const siteId = await browser.openSite('data-manual="false"');
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    const rows = await browser.rows(siteId, 1, ROW);
    expect(rows.map((row) => [row.pathname, row.event_name])).toEqual([['/a', '']]);
  });

  test('excluded paths, allowed hosts and the query allow-list', async () => {
    const siteId = await browser.openSite(
      'data-exclude="/admin*, /preview" data-query="page, f_*" data-hosts="127.0.0.1, *.example"',
    );
    const page = await (await browser.context()).newPage();
    const { url } = browser.site;
    for (const path of ['/admin/x', '/preview', url.replace('127.0.0.1', 'localhost')]) {
      await page.goto(new URL(path, url).href);
      await loaded(page);
    }
    await page.goto(`${url}/preview/2?token=secret&page=2&f_a=1&utm_source=s&mail=x&gclid=g`);
    await loaded(page);
    await browser.rows(siteId, 1);
    await page.evaluate(`location.href = '/next?mail=x'`);
    await page.waitForURL('**/next?mail=x');
    const rows = await browser.rows(siteId, 2, ROW);
    const counted = `${url}/preview/2?page=2&f_a=1&utm_source=s&gclid=g`;
    expect(rows.map((row) => [row.url, row.referrer])).toEqual([
      [counted, ''],
      [`${url}/next`, counted],
    ]);
  });

  test('clicks on marked elements, outbound links, files and forms', async () => {
    const body = `<a id="out" target="_blank" href="https://example.invalid/x?a=1#b"><b>out</b></a> <a id="file" href="/files/Report.PDF" target="_blank">f</a>
      <a id="mail" href="mailto:a@b.c">m</a><div data-weir-event="plan chosen" data-weir-plan="pro" data-weir-value="12"><i id="inner">x</i></div>
      <form id="ask" data-weir-event="asked" data-weir-topic="price" action="/sent"><input name="id"><button id="send">s</button></form>`;
    const siteId = await browser.openSite('data-outbound data-download data-form', body);
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.click('#out b');
    await page.click('#file', { button: 'middle' });
    await page.click('#file', { button: 'right' });
    await page.click('#inner');
    await page.click('#send');
    const rows = (await browser.rows(siteId, 8, ROW)).filter((row) => row.type === 'event');
    // The rows are sorted by name, because hits that are still queued when the page is left are sent together, in no fixed order.
    const found = rows.toSorted((a, b) => String(a.event_name).localeCompare(String(b.event_name)));
    expect(found.map((row) => [row.event_name, row.value_text, row.properties])).toEqual([
      ['asked', '', { topic: 'price' }],
      ['download', '', { url: `${browser.site.url}/files/Report.PDF` }],
      ['form', '', { form: 'ask' }],
      ['outbound', '', { url: 'https://example.invalid/x?a=1' }],
      ['plan chosen', '12', { plan: 'pro' }],
    ]);
  });

  test('the time on an excluded page is not counted for any page', async () => {
    const siteId = await browser.openSite('data-engagement data-exclude="/admin*"');
    const page = await (await browser.context()).newPage();
    await page.goto(`${browser.site.url}/admin`);
    await loaded(page);
    await page.evaluate(
      `history.pushState({}, '', '/a'); history.pushState({}, '', '/admin/2'); history.pushState({}, '', '/b'); weir.track('last')`,
    );
    const rows = await browser.rows(siteId, 3, ROW);
    expect(rows.map((row) => [row.pathname, row.event_name])).toEqual([
      ['/a', ''],
      ['/b', ''],
      ['/b', 'last'],
    ]);
  });

  test.each(['', 'data-cookieless'])(
    'hits that wait when an excluded page is left are kept for the next page, except in cookieless mode (%j)',
    async (attributes) => {
      const siteId = await browser.openSite(`data-exclude="/admin*" ${attributes}`);
      const { page, gate } = await openBehindGate(browser, siteId);
      // Waits for the failure here and below. If a page is left during a request, the snippet cannot keep the hit of this request for the next page.
      const refused = gate.refusal();
      await page.evaluate(`weir.track('kept'); history.pushState({}, '', '/admin')`);
      await refused;
      for (const path of ['/admin/2', '/admin/3']) {
        const refusedAgain = attributes === '' ? gate.refusal() : undefined;
        await page.goto(`${browser.site.url}${path}`);
        await refusedAgain;
      }
      gate.isClosed = false;
      await page.goto(`${browser.site.url}/b`);
      const rows = await browser.rows(siteId, attributes === '' ? 3 : 2, ROW);
      const kept = attributes === '' ? ['kept'] : [];
      expect(rows.map((row) => row.event_name || row.pathname)).toEqual(['/a', ...kept, '/b']);
    },
  );

  test('engagement is sent when a page is left, for that page', async () => {
    const siteId = await browser.openSite('data-engagement', '<div style="height: 4000px">tall</div>');
    const page = await (await browser.context({ viewport: { width: 800, height: 1000 } })).newPage();
    await page.goto(`${browser.site.url}/a`);
    await loaded(page);
    await page.evaluate('new Promise((done) => { addEventListener("scroll", done); scrollTo(0, 1000); })');
    await page.evaluate(`history.pushState({}, '', '/b')`);
    await page.goto('about:blank');
    const rows = await browser.rows(siteId, 4, ROW);
    const named = rows.map((row) => `${row.pathname} ${row.event_name}`);
    expect(named.toSorted()).toEqual(['/a ', '/a $engagement', '/b ', '/b $engagement']);
    const { engaged_ms, scroll_depth } = (rows[named.indexOf('/a $engagement')]?.properties ?? {}) as Record<
      string,
      unknown
    >;
    expect(Number(scroll_depth)).toBeGreaterThanOrEqual(48);
    expect(Number(scroll_depth)).toBeLessThanOrEqual(52);
    expect(Number(engaged_ms)).toBeGreaterThan(0);
  });
});
