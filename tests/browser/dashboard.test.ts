import { describeBrowser, useBrowser } from './use-browser.ts';

const HITS = 120;

describeBrowser('the dashboard', () => {
  const browser = useBrowser();

  test('shows how the owner was found, and warns of a site whose hits come from one network', async () => {
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
});
