import { violationsOf } from './dashboard-page.ts';
import { WALK_EVENT, walkAsNewUser } from './new-user-walk.ts';
import { describeBrowser, useBrowser } from './use-browser.ts';

describeBrowser('the first steps of a new user', () => {
  const browser = useBrowser();

  test('a site, the own pageview, a goal, a key, and an event of this key that the goal counts', async () => {
    const page = await (await browser.context({ locale: 'en' })).newPage();
    const violations: string[] = [];
    const steps: string[] = [];
    const cells = await walkAsNewUser({
      page,
      url: browser.weir.url,
      token: browser.weir.client.adminToken,
      site: browser.site,
      async onStep(name, shown) {
        steps.push(name);
        violations.push(...(await violationsOf(shown)));
      },
    });
    expect(steps.at(-1)).toBe('goal has counted the event');
    // The event has a user ID and no visitor ID. The goal counts it as a conversion, although its visitor is unknown.
    expect(cells.slice(0, 3)).toEqual([WALK_EVENT, `Event ${WALK_EVENT}`, '1']);
    expect(violations).toEqual([]);
  });
});
