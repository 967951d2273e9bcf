import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import type { DrivenBrowser } from './driven-browser.ts';
import { FIREFOX, openFirefox } from './firefox.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { loaded } from './use-browser.ts';
import { openWebKit, WEBKIT_DRIVER, XVFB } from './webkit.ts';

const ENGINES = [
  {
    engine: 'Firefox',
    files: [FIREFOX],
    open: () => openFirefox({ 'privacy.globalprivacycontrol.enabled': true }),
    // No script is needed: with the preference above, Firefox itself sets `navigator.globalPrivacyControl`.
    gpc: '',
  },
  {
    engine: 'WebKit',
    files: [WEBKIT_DRIVER, XVFB],
    open: openWebKit,
    gpc: '<script>Object.defineProperty(navigator, "globalPrivacyControl", { value: true })</script>',
  },
];
const CI = process.env.CI === 'true';
const missing = (files: readonly string[]): boolean => !files.every((file) => existsSync(file));

for (const { engine, files, open, gpc } of ENGINES) {
  const skipped = missing(files) && !CI;
  const wanted = skipped ? `: ${files.join(', ')} (node infra/local/install-engines.mjs)` : '';
  (skipped ? describe.skip : describe)(`visits in ${engine}, by their rows${wanted}`, () => {
    let weir: WeirProcess;
    let site: PageServer;
    let browser: DrivenBrowser;
    let origin: string;
    let hosts = 0;
    beforeAll(async () => {
      weir = await startWeir({ env: { RATE_LIMIT_COLLECT: '100000', COLLECT_PATHS: '/measure' } });
      site = await startPageServer();
      browser = await open();
    }, 300_000);
    afterAll(async () => {
      await browser?.close();
      await site?.close();
      await weir?.stop();
    }, 60_000);

    /** Creates a site in Weir and serves its pages under a separate host name, so that each test has new visitors. */
    const openSite = async (attributes = '', body = '', headers: Readonly<Record<string, string>> = {}) => {
      const siteId = await weir.client.createSite();
      hosts += 1;
      origin = site.url.replace('127.0.0.1', `test${hosts}.localhost`);
      const tag = `<script defer src="${weir.url}/weir.js" data-site="${siteId}" ${attributes}></script>`;
      site.serve(() => ({ html: body + tag, headers }));
      return siteId;
    };
    const visit = async (path: string): Promise<void> => {
      await browser.goto(origin + path);
      await loaded(browser);
    };
    const rows = async (siteId: string, count: number) => {
      await weir.client.rows('events', siteId, count);
      await weir.client.settled();
      const columns = 'event_name, url, pathname, referrer, visitor_id, session_id, cookieless, browser, bot';
      const query = `SELECT ${columns} FROM events WHERE site_id = {site:String} ORDER BY received_at, event_id`;
      return weir.client.sql(query, { site: siteId });
    };
    const names = async (siteId: string, count: number) =>
      (await rows(siteId, count)).map((row) => row.event_name || row.pathname);

    test('a first visit, history changes, back and forward, and a second tab: one visitor and one session', async () => {
      const siteId = await openSite();
      // Waits for each row before the next page, because hits of a page that is left early may be sent together with those of
      // the next page.
      await visit('/a?utm_source=news#part');
      await rows(siteId, 1);
      await browser.evaluate(`void history.pushState({}, '', '/b')`);
      await rows(siteId, 2);
      await visit('/c');
      await rows(siteId, 3);
      await browser.back();
      await eventually('the page before', () => browser.evaluate<boolean>(`location.pathname === '/b'`));
      await loaded(browser);
      await rows(siteId, 4);
      await browser.openTab();
      await visit('/d');
      const found = await rows(siteId, 5);
      await browser.closeTab();
      expect(found.map((row) => row.pathname)).toEqual(['/a', '/b', '/c', '/b', '/d']);
      expect(found[0]).toMatchObject({ url: `${origin}/a?utm_source=news`, bot: '' });
      expect(found[1]?.referrer).toBe(`${origin}/a?utm_source=news`);
      expect(new Set(found.map((row) => `${row.visitor_id} ${row.session_id}`)).size).toBe(1);
      expect(found[0]?.visitor_id).toMatch(/^\d{20,40}$/);
    });

    // This test leaves the page, and does not close the tab. If a controlled Firefox closes a tab, it can end the process of the tab before its
    // requests are sent. snippet-delivery.test.ts closes a tab in Chromium.
    test('events that are tracked when a page is left arrive, at the latest with the next page', async () => {
      const siteId = await openSite('', `<script>addEventListener('pagehide', () => weir.track('bye'))</script>`);
      await visit('/a');
      await rows(siteId, 1);
      await visit('/next');
      expect((await names(siteId, 3)).toSorted()).toEqual(['/a', '/next', 'bye']);
    });

    test('cookieless: nothing is stored; Global Privacy Control: nothing is sent', async () => {
      const siteId = await openSite('data-cookieless');
      await visit('/a');
      const [row] = await rows(siteId, 1);
      expect(String(row?.visitor_id)).toMatch(/^c_/);
      expect(await browser.evaluate('[document.cookie, Object.keys(localStorage)]')).toEqual(['', []]);
      const refusing = await openSite('data-privacy', gpc);
      await visit('/refused');
      await browser.evaluate(`weir.track('refused')`);
      expect(await browser.evaluate('[document.cookie, Object.keys(localStorage)]')).toEqual(['', []]);
      await openSite();
      await visit('/last');
      expect(await names(refusing, 0)).toEqual([]);
    });

    test('a strict content security policy', async () => {
      const policy = `default-src 'none'; script-src ${weir.url}; connect-src ${weir.url}`;
      const siteId = await openSite('', '', { 'content-security-policy': policy });
      await browser.goto(`${origin}/a`);
      expect(await names(siteId, 1)).toEqual(['/a']);
    });

    test('one path is unreachable: all hits go to the alias, in order', async () => {
      const dead = `http://127.0.0.1:${await freePort()}/api/collect`;
      const siteId = await openSite(`data-endpoint="${dead} /measure"`);
      await visit('/a');
      await browser.evaluate(`weir.track('through')`);
      expect(await names(siteId, 2)).toEqual(['/a', 'through']);
    });

    test('unreachable, then reachable: queued hits are sent with the next page, in order', async () => {
      const port = await freePort();
      const siteId = await openSite(`data-endpoint="http://127.0.0.1:${port}/"`);
      await visit('/a');
      await browser.evaluate(`weir.track('kept')`);
      const forwarder = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const { status } = await fetch(`${weir.url}/api/collect`, { method: 'POST', body: Buffer.concat(chunks) });
        response.writeHead(status, { 'access-control-allow-origin': '*' }).end();
      });
      try {
        await new Promise<void>((resolve) => forwarder.listen(port, '127.0.0.1', resolve));
        await visit('/b');
        expect(await names(siteId, 3)).toEqual(['/a', 'kept', '/b']);
      } finally {
        forwarder.closeAllConnections();
        forwarder.close();
      }
    });
  });
}
