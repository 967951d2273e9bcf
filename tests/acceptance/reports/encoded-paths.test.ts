import { useWeir } from '../use-weir.ts';

const client = useWeir();

describe('paths with letters that URLs encode', () => {
  let site = '';
  const report = async (name: string, query: string): Promise<unknown> =>
    client.must(200, 'GET', `/sites/${site}/${name}?period=24h&${query}`);

  beforeAll(async () => {
    site = await client.createSite();
    const view = async (visitor: string, url: string): Promise<void> => {
      const page = { site_id: site, visitor_id: visitor, session_id: `s-${visitor}`, type: 'pageview', url };
      const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' };
      expect((await client.collect(page, agent)).status).toBe(204);
    };
    await view('ann', 'https://example.com/');
    await view('ann', 'https://example.com/Über uns');
    await view('bob', 'https://example.com/%c3%9cber%20uns');
    await view('eve', 'https://example.com/Uber');
    await client.settled();
  });

  test.each([
    ['page:is:/Über uns', 2],
    ['page:is:/%C3%9Cber%20uns', 1],
    ['page:is_not:/Über uns', 2],
    ['page:contains:Über u', 2],
    ['page:matches:/Ü*', 2],
    ['page:matches_not:/Ü*', 2],
    ['entry:is:/Über uns', 1],
    ['exit:is:/Über uns', 2],
    ['viewed_page:is:/Über uns', 2],
  ])('the filter %s selects %i visitors', async (filter, visitors) => {
    const query = `filter=${encodeURIComponent(filter)}`;
    expect(await report('stats', query)).toMatchObject({ totals: { visitors } });
  });

  test('a goal, a funnel and journeys find the page as people write it', async () => {
    await client.must(201, 'POST', `/sites/${site}/goals`, { type: 'page', value: '/Über*' });
    expect(await report('conversions', '')).toMatchObject({ goals: [{ value: '/Über*', conversions: 2 }] });
    const page = encodeURIComponent('/Über uns');
    expect(await report('funnel', `step=page:/&step=page:${page}`)).toMatchObject({ steps: [{}, { visitors: 1 }] });
    expect(await report('journeys', `path=${page}`)).toMatchObject({
      ...{ path: '/Über uns', views: 2, visits: 2 },
      previous: [
        { value: '', views: 1 },
        { value: '/', views: 1 },
      ],
    });
  });
});
