import { bundlePages } from './rendered-page.ts';

test('the menu of the sites names no number of sites until it has loaded them', async () => {
  const { render } = await bundlePages('app/site-menu.tsx');
  const props = { session: { role: 'admin', sites: null }, siteId: undefined, page: 'overview' };
  const menu = (answers: object): string => render('SiteMenu', '/dashboard', answers, props).html;
  expect(menu({})).not.toContain('sites');
  expect(menu({ listSites: [] })).toContain('0 sites');
});
