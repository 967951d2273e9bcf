import { DE } from '../src/i18n/de.ts';
import { bundlePages } from './rendered-page.ts';

const ADDRESS = '/dashboard/sites/s/page?step=page:/&step=event:signup';
const pages = bundlePages(
  'behaviour/funnel-page.tsx',
  'behaviour/journeys-page.tsx',
  'realtime/realtime-page.tsx',
  'sites/sites-page.tsx',
);

/** The text of a page whose numbers are all 1. */
async function textOf(name: string, answers: object): Promise<string> {
  const { render } = await pages;
  return render(name, ADDRESS, answers, { isAdmin: false }).html.replace(/<[^>]*>/g, '');
}

test('one visitor, one visit and one view are not shown as several', async () => {
  const now = { visitors: 1, pageviews: 1 };
  const lists = { minutes: [], pages: [{ value: '/', visitors: 1 }], sources: [], countries: [] };
  const realtime = await textOf('RealtimePage', {
    realtime: { ...lists, last_5_minutes: now, last_30_minutes: now },
  });
  expect(realtime).toContain('1 visitor in the last 5 minutes');
  expect(realtime).toContain('1 visitor in the last 30 minutes');
  expect(realtime).toContain('1 pageview in the last 30 minutes');
  const journeys = { path: '/', views: 1, visits: 1, previous: [], next: [{ value: '/next', views: 1 }] };
  const paths = await textOf('JourneysPage', { journeys });
  expect(paths).toContain('/ has 1 view in 1 visit.');
  // For screen readers, the number of a row has its unit.
  expect(paths).toMatch(/\/next11 view(?!s)/);
  expect(realtime).toMatch(/\/11 visitor(?!s)/);
  expect(DE['funnel.dropped']).toHaveProperty('one', expect.stringContaining('ist vorher'));
  const step = { type: 'page', value: '/', visitors: 1, rate: 1, dropped: 0, step_rate: 1 };
  const funnel = { conversion_rate: 1, steps: [step] };
  expect(await textOf('FunnelPage', { funnel, listFunnels: [] })).toMatch(/1 visitor(?!s)/);
  const site = { site_id: 's', name: 'Site', domain: 'example.com', timezone: 'UTC', series: [] };
  const totals = { totals: { visitors: 1 }, before: { visitors: 1 }, last_5_minutes: { visitors: 1 } };
  const overview = { sites: [{ ...site, ...totals }], periods: [], has_more: false };
  expect(await textOf('SitesPage', { overview })).toContain('1 visitor in 7 days');
});
