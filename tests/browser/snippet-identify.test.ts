import { createHmac } from 'node:crypto';
import { describeBrowser, loaded, useBrowser } from './use-browser.ts';

describeBrowser('weir.identify in Chromium, by the profile', () => {
  const browser = useBrowser();

  test('a trait in camel case is sent in snake case, with a warning in the console', async () => {
    const siteId = await browser.openSite();
    const page = await (await browser.context()).newPage();
    const warnings: string[] = [];
    page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
    await page.goto(browser.site.url);
    await loaded(page);
    const fields = { firstName: 'Ada', UserLevel: 3, plan: 'pro', email: 'a@b.example', paymentCustomerId: 'cus_1' };
    await page.evaluate(`weir.identify('u', ${JSON.stringify(fields)})`);
    const [profile] = await browser.rows(siteId, 1, 'user_id, email, traits', 'profiles');
    expect(profile).toEqual({
      user_id: 'u',
      email: 'a@b.example',
      traits: { first_name: 'Ada', plan: 'pro', user_level: expect.anything() },
    });
    expect(await browser.rows(siteId, 1, 'payment_customer_id', 'payment_customers')).toEqual([
      { payment_customer_id: 'cus_1' },
    ]);
    expect(warnings).toEqual([
      'weir: use first_name for firstName',
      'weir: use user_level for UserLevel',
      'weir: use payment_customer_id for paymentCustomerId',
    ]);
  });

  test('with the signature of a server, on a site that requires one', async () => {
    const siteId = await browser.openSite();
    const { client } = browser.weir;
    const made = await client.must(201, 'POST', `/sites/${siteId}/identity-secret`);
    await client.must(200, 'PATCH', `/sites/${siteId}`, { identity_verification: { required: true } });
    const signature = createHmac('sha256', (made as { secret: string }).secret)
      .update('ada')
      .digest('hex');
    const page = await (await browser.context()).newPage();
    await page.goto(browser.site.url);
    await loaded(page);
    await page.evaluate(`weir.identify('forged', { plan: 'pro' });
      weir.identify('forged', { plan: 'pro' }, { signature: '${signature}' });
      weir.identify('ada', { plan: 'pro' }, { signature: '${signature}' });`);
    expect(await browser.rows(siteId, 1, 'user_id, traits', 'profiles')).toEqual([
      { user_id: 'ada', traits: { plan: 'pro' } },
    ]);
    const dropped = await browser.rows(siteId, 3, 'outcome, reason', 'outcomes');
    expect(dropped.filter(({ reason }) => reason === 'identity_unverified')).toHaveLength(2);
  });
});
