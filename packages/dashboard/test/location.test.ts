import { navigate } from '../src/app/location.ts';
import { bundlePages } from './rendered-page.ts';

test('a link to the same page without the fragment adds an entry to the history; a link to the same address does not', () => {
  const changes: string[] = [];
  const history = {
    pushState: (_: unknown, __: string, url: string) => changes.push(`push ${url}`),
    replaceState: (_: unknown, __: string, url: string) => changes.push(`replace ${url}`),
  };
  const location = { pathname: '/dashboard/sites/s/people', search: '', hash: '#user=ada' };
  Object.assign(globalThis, { history, location, scrollTo: () => undefined, requestAnimationFrame: () => 0 });
  navigate('/dashboard/sites/s/people');
  location.hash = '';
  navigate('/dashboard/sites/s/people');
  expect(changes).toEqual(['push /dashboard/sites/s/people', 'replace /dashboard/sites/s/people']);
});

test('the parameters of an address are read, also those after a `?` in a value; an unknown interval is ignored', async () => {
  const { render } = await bundlePages('behaviour/retention-page.tsx');
  const asked = (query: string) => render('RetentionPage', `/dashboard/sites/s/retention?${query}`, {}, {}).asked;
  const cohorts = (query: object) => ['cohorts', { site_id: 's' }, query];
  expect(asked('filter=property:q:is:why?&period=7d&cohorts=month')).toContainEqual(
    cohorts({ period: '7d', filter: ['property:q:is:why?'], interval: 'month' }),
  );
  expect(asked('period=7d&cohorts=hour')).toContainEqual(cohorts({ period: '7d', interval: 'week' }));
});
