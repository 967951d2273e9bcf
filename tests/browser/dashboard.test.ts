import { eventually } from '@weir/testkit/eventually';
import { describeBrowser, useBrowser } from './use-browser.ts';

const HITS = 120;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0';
/** The number of report requests: one for the stats, and one for each of six dimensions. */
const REPORTS = 7;

describeBrowser('the dashboard', () => {
  const browser = useBrowser();

  test('shows how the client IP was found, and warns of a site whose hits come from one network', async () => {
    const { client, url } = browser.weir;
    const site = await client.createSite({ name: 'Behind a proxy' });
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await Promise.all(Array.from({ length: HITS }, () => client.collect(hit)));

    const page = await (await browser.context({ extraHTTPHeaders: { 'x-forwarded-for': '8.8.8.8' } })).newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`${url}/dashboard`);
    await page.fill('#token', client.adminToken);
    await page.click('#sign-in button');

    await page.waitForSelector('#whoami td');
    const whoami = await page.textContent('#whoami');
    expect(whoami).toContain('Address127.0.0.1');
    expect(whoami).toContain('Sent x-forwarded-for8.8.8.8');
    expect(whoami).toContain('127.0.0.1, which is not in TRUSTED_PROXIES');
    await page.waitForSelector('#crowded li');
    expect(await page.textContent('#crowded')).toBe(
      `${site}: at least 100 % of the last ${HITS} hits come from one private network: a proxy that is ` +
        'missing in TRUSTED_PROXIES, or machines of your own.',
    );
    expect(errors).toEqual([]);
  });

  /**
   * Opens the signed-in dashboard. The test controls the clock of the page. Requests of reports are recorded, and delayed if
   * the test asks for that.
   */
  async function openBoard() {
    const page = await (await browser.context()).newPage();
    const asked: string[] = [];
    const held: { readonly url: string; go(how: 'continue' | 'abort'): Promise<void> }[] = [];
    let isHeld = (_url: string): boolean => false;
    await page.route(/\/(?:stats|breakdown)\?/, async (route) => {
      const url = route.request().url();
      asked.push(url);
      if (isHeld(url)) held.push({ url, go: (how) => route[how]() });
      else await route.continue();
    });
    await page.clock.install();
    await page.goto(`${browser.weir.url}/dashboard`);
    await page.fill('#token', browser.weir.client.adminToken);
    await page.click('#sign-in button');
    await page.waitForSelector('#numbers b');
    return {
      page,
      asked,
      held,
      hold(what: (url: string) => boolean) {
        isHeld = what;
      },
      /** Advances the page's clock, and waits for the answer of whoami, the last request of each update. */
      async pass(ms: number) {
        const answered = page.waitForResponse(/whoami/);
        await page.clock.runFor(ms);
        await answered;
      },
    };
  }

  test('does not request a report while another one is in progress, and pauses after a slow report that failed', async () => {
    await browser.weir.client.createSite({ name: 'Slow' });
    const { page, asked, held, hold, pass } = await openBoard();
    hold(() => true);
    const before = asked.length;
    await eventually('a report is asked for', async () => {
      await pass(5_000);
      return held.length === REPORTS;
    });
    await pass(60_000);
    expect(asked).toHaveLength(before + REPORTS);
    for (const { go } of held.splice(0)) await go('abort');
    await page.waitForSelector('#problem:not([hidden])');
    await pass(60_000);
    expect(asked).toHaveLength(before + REPORTS);
    expect(await page.isVisible('#problem')).toBe(true);
    hold(() => false);
    // This is longer than the pause after a failure. The pause is a multiple of the duration of the failed request, which also
    // includes the real time of this test.
    await pass(60 * 60_000);
    await page.waitForSelector('#problem', { state: 'hidden' });
  });

  test('shows the site that was selected last, in whatever order the answers arrive', async () => {
    const { client } = browser.weir;
    const [empty, busy] = [await client.createSite({ name: 'Empty' }), await client.createSite({ name: 'Busy' })];
    const hit = { site_id: busy, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    await client.collect(hit, { 'user-agent': FIREFOX });
    await client.settled();
    const { page, held, hold } = await openBoard();
    hold((url) => url.includes(empty));
    await page.selectOption('#site', empty);
    await eventually('the empty site is asked for', () => held.length === REPORTS);
    await page.selectOption('#site', busy);
    const visitors = () => page.textContent('#numbers b');
    await eventually('the busy site is shown', async () => (await visitors()) === '1');
    const late = held.splice(0);
    const answers = late.map(({ url }) => page.waitForResponse(url).then((response) => response.finished()));
    for (const { go } of late) await go('continue');
    await Promise.all(answers);
    // Waits for one more request: when it is answered, the page has also processed all earlier answers.
    await page.evaluate("fetch('/healthz').then((response) => response.text())");
    expect(await visitors()).toBe('1');
  });
});
