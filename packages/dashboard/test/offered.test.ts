import { bundlePages } from './rendered-page.ts';

const ADDRESS = '/dashboard/sites/s/overview';
const pages = bundlePages(
  'overview/bar-list.tsx',
  'people/person-timeline.tsx',
  'realtime/realtime-page.tsx',
  'ui/pager.tsx',
);

test('a filter is offered only for a value that the admin API takes', async () => {
  const { render } = await pages;
  const values = ['/short', 'x'.repeat(1024), 'x'.repeat(1025), 'two\nlines'];
  const rows = values.map((value) => ({ value, visitors: 1 }));
  const props = { rows, dimension: 'page', metric: 'visitors', state: { filters: [] } };
  const items = render('BarList', ADDRESS, {}, props).html.split('<li').slice(1);
  expect(items.map((item) => item.includes('<button'))).toEqual([true, true, false, false]);
});

test('the last page of the admin API has no next page', async () => {
  const { render } = await pages;
  const disabled = (html: string) =>
    html
      .split('<button')
      .slice(1)
      .map((button) => button.includes('disabled="true"'));
  const pager = (page: number) => render('Pager', ADDRESS, {}, { page, hasMore: true }).html;
  expect([disabled(pager(99)), disabled(pager(100))]).toEqual([
    [false, false],
    [false, true],
  ]);
  const timeline = (page: number) =>
    render('PersonTimeline', ADDRESS, {}, { page, data: { events: [], sessions: [], has_more: true } }).html;
  expect([disabled(timeline(99)), disabled(timeline(100))]).toEqual([
    [false, false],
    [false, true],
  ]);
});

test('an empty list of realtime does not say that there was no visitor, if there was one', async () => {
  const { render } = await pages;
  const realtime = (visitors: number) => ({
    minutes: [],
    last_5_minutes: { visitors, pageviews: 0 },
    last_30_minutes: { visitors, pageviews: 0 },
    pages: [],
    sources: [],
    countries: [],
  });
  const isNone = (visitors: number) =>
    render('RealtimePage', ADDRESS, { realtime: realtime(visitors) }, { isAdmin: false }).html.includes(
      'There was no visitor',
    );
  expect([isNone(0), isNone(1)]).toEqual([true, false]);
});
