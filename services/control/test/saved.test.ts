import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from './control-harness.ts';

const weir = useOpened(openControlHarness);
beforeAll(async () => {
  const site = { name: 'Shop', domain: 'example.com', site_id: 'shop', timezone: 'Asia/Tokyo' };
  await weir.call('POST', '/sites', site);
});

const call = (method: string, path: string, body?: object) => weir.call(method, `/sites/shop/${path}`, body);

test('a segment is saved, listed, refused a second time, and removed', async () => {
  const filters = ['country:is:DE,AT', 'page:matches:/shop/*'];
  const { status, body } = await call('POST', 'segments', { name: 'Shop in DACH', filters });
  expect([status, body.data]).toEqual([
    201,
    {
      ...{ segment_id: expect.stringMatching(/^segment_/), site_id: 'shop', name: 'Shop in DACH' },
      filters,
      created_at: expect.any(String),
    },
  ]);
  expect((await call('GET', 'segments')).body.data).toEqual([body.data]);
  expect((await call('POST', 'segments', { name: 'Shop in DACH', filters })).status).toBe(409);
  const path = `segments/${body.data.segment_id}`;
  expect([(await call('DELETE', path)).status, (await call('DELETE', path)).status]).toEqual([200, 404]);
});

test('a site can have 200 segments', async () => {
  const put = (n: number) =>
    weir.registry.putSegment({
      segmentId: `s${n}`,
      siteId: 'shop',
      name: `n${n}`,
      filters: ['page:is:/'],
      createdAt: n,
    });
  await Promise.all(Array.from({ length: 200 }, (_, n) => put(n)));
  expect((await call('POST', 'segments', { name: 'one more', filters: ['page:is:/'] })).status).toBe(409);
});

const STEPS = ['page:/', 'page:/checkout/*', 'event:purchase'];

test('a funnel is saved, listed, refused a second time, and removed', async () => {
  const { status, body } = await call('POST', 'funnels', { name: 'Checkout', steps: STEPS });
  expect([status, body.data]).toEqual([
    201,
    {
      ...{ funnel_id: expect.stringMatching(/^funnel_/), site_id: 'shop', name: 'Checkout' },
      ...{ steps: STEPS, within: '7d', created_at: expect.any(String) },
    },
  ]);
  const short = (await call('POST', 'funnels', { name: 'In a day', steps: STEPS, within: '24h' })).body.data;
  expect(short.within).toBe('24h');
  expect((await call('GET', 'funnels')).body.data).toEqual([body.data, short]);
  expect((await call('POST', 'funnels', { name: 'Checkout', steps: STEPS })).status).toBe(409);
  const path = `funnels/${body.data.funnel_id}`;
  expect([(await call('DELETE', path)).status, (await call('DELETE', path)).status]).toEqual([200, 404]);
  expect((await call('GET', 'funnels')).body.data).toEqual([short]);
});

test('the report of a saved funnel takes its ID instead of the steps', async () => {
  const { funnel_id: id } = (await call('POST', 'funnels', { name: 'Report', steps: STEPS, within: '1h' })).body.data;
  const report = await call('GET', `funnel?funnel=${id}`);
  expect([report.status, report.body.data]).toMatchObject([
    200,
    { within_seconds: 3600, steps: STEPS.map((step) => ({ value: step.slice(step.indexOf(':') + 1) })) },
  ]);
  const both = await call('GET', `funnel?funnel=${id}&within=2h`);
  expect([both.status, both.body.error.message]).toEqual([400, 'send either funnel, or step and within']);
  expect((await weir.call('GET', `/sites/other/funnel?funnel=${id}`)).status).toBe(404);
  expect((await call('GET', 'funnel?funnel=none')).body.error.message).toBe('funnel not found');
});

test('a site can have 100 saved funnels', async () => {
  const put = (n: number) =>
    weir.registry.putFunnel({
      ...{ funnelId: `f${n}`, siteId: 'full', name: `n${n}`, steps: STEPS, within: '7d', createdAt: n },
    });
  await weir.call('POST', '/sites', { name: 'Full', domain: 'example.com', site_id: 'full' });
  await Promise.all(Array.from({ length: 100 }, (_, n) => put(n)));
  const refused = await weir.call('POST', '/sites/full/funnels', { name: 'one more', steps: STEPS });
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'the site has 100 saved funnels, the most there can be',
  ]);
});

test.each([
  ['funnels', { name: 'x' }],
  ['funnels', { name: ' ', steps: STEPS }],
  ['funnels', { name: 'x', steps: ['page:/'] }],
  ['funnels', { name: 'x', steps: Array.from({ length: 9 }, () => 'page:/') }],
  ['funnels', { name: 'x', steps: ['page:/', 'planet:Mars'] }],
  ['funnels', { name: 'x', steps: ['page:/', 'event:$internal'] }],
  ['funnels', { name: 'x', steps: ['page:/', `page:/${'x'.repeat(1024)}`] }],
  ['funnels', { name: 'x', steps: ['page:/', 7] }],
  ['funnels', { name: 'x', steps: STEPS, within: '0d' }],
  ['funnels', { name: 'x', steps: STEPS, within: '367d' }],
  ['segments', { name: 'x' }],
  ['segments', { name: 'x', filters: [] }],
  ['segments', { name: 'x', filters: ['planet:is:Mars'] }],
  ['segments', { name: '  ', filters: ['page:is:/'] }],
  ['segments', { name: 'x', filters: Array.from({ length: 21 }, () => 'page:is:/') }],
  ['annotations', { text: 'x' }],
  ['annotations', { at: 'yesterday', text: 'x' }],
  ['annotations', { at: '2026-11-22', text: '' }],
  ['annotations', { at: '2026-11-22', text: 'x'.repeat(501) }],
])('%s with %j is 400', async (kind, body) => {
  expect((await call('POST', kind, body)).status).toBe(400);
});

test('annotations are listed by their time; a date is the first moment of the day on the site', async () => {
  const add = async (at: string, text: string) => (await call('POST', 'annotations', { at, text })).body.data;
  const later = await add('2026-11-22T12:30:00Z', 'Campaign');
  const earlier = await add('2026-11-22', '<b>Released</b>');
  expect([earlier.at, later.at]).toEqual(['2026-11-21T15:00:00.000Z', '2026-11-22T12:30:00.000Z']);
  expect((await call('GET', 'annotations')).body.data).toEqual([earlier, later]);
  const path = `annotations/${later.annotation_id}`;
  const moved = await call('PATCH', path, { at: '2026-11-20' });
  expect([moved.status, moved.body.data]).toEqual([200, { ...later, at: '2026-11-19T15:00:00.000Z' }]);
  const renamed = (await call('PATCH', path, { text: 'Sale' })).body.data;
  expect((await call('GET', 'annotations')).body.data).toEqual([renamed, earlier]);
  expect(renamed).toEqual({ ...moved.body.data, text: 'Sale' });
  expect((await call('PATCH', path, { at: 'yesterday' })).status).toBe(400);
  expect((await call('PATCH', 'annotations/none', { text: 'x' })).status).toBe(404);
  expect([(await call('DELETE', path)).status, (await call('DELETE', path)).status]).toEqual([200, 404]);
});

test('a site that does not exist is 404', async () => {
  for (const kind of ['segments', 'funnels', 'annotations']) {
    expect((await weir.call('GET', `/sites/none/${kind}`)).status).toBe(404);
  }
});
