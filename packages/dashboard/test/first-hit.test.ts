import { bundlePages } from './rendered-page.ts';

test('the report of all time is repeated only while a site has never received anything', async () => {
  const { render } = await bundlePages('overview/first-hit.tsx');
  const repeated = (pageviews: number) => {
    const answers = { stats: { totals: { pageviews, events: 0 } } };
    return render('FirstHit', '/dashboard/sites/s/overview', answers, { onChange: () => undefined }).repeated;
  };
  expect([repeated(0), repeated(1)]).toEqual([['stats'], []]);
});
