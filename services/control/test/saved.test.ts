import { type ControlHarness, openControlHarness } from './control-harness.ts';

let weir: ControlHarness;
beforeAll(async () => {
  weir = await openControlHarness();
  const site = { name: 'Shop', domain: 'example.com', site_id: 'shop', timezone: 'Asia/Tokyo' };
  await weir.call('POST', '/sites', site);
});
afterAll(() => weir.close());

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

test.each([
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
  for (const kind of ['segments', 'annotations']) {
    expect((await weir.call('GET', `/sites/none/${kind}`)).status).toBe(404);
  }
});
