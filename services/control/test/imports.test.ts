import { TOPIC_RAW } from '@weir/domain/records/topics';
import { deferred, eventually } from '@weir/testkit/eventually';
import type { AppendFault } from '@weir/testkit/faulty-event-log';
import type { Reply } from './control-harness.ts';
import { useFaultyLog } from './faulty-log-harness.ts';

/** The test log awaits this promise before each append. */
let gate: Promise<unknown> = Promise.resolve();
const { weir, appends } = useFaultyLog((log) => ({
  ...log,
  append: (topic, records) => gate.then(() => log.append(topic, records)),
}));
afterEach(() => {
  appends.fault = 'none';
  gate = Promise.resolve();
});

let files = 0;
const newDigest = () => (++files).toString(16).padStart(64, '0');

const hit = (line: number) => ({
  line,
  timestamp: 1_431_857_103_000 + line * 1000,
  ip: `192.0.2.${line % 7}`,
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:25.0) Gecko/20100101 Firefox/25.0',
  url: `https://example.com/${line}`,
  referrer: '',
});
const chunk = (lease: string, first: number, last: number) => ({
  lease,
  first_line: first,
  last_line: last,
  hits: Array.from({ length: last - first + 1 }, (_, index) => hit(first + index)),
});

const start = (site: string, digest: string): Promise<Reply> =>
  weir.call('POST', `/sites/${site}/imports`, { file_digest: digest });
const send = (site: string, digest: string, body: object): Promise<Reply> =>
  weir.call('POST', `/sites/${site}/imports/${digest}/chunks`, body);

async function rows(site: string): Promise<{ rows: number; lines: number }> {
  const query = 'SELECT count() AS rows, uniqExact(pathname) AS lines FROM events WHERE site_id = {site:String}';
  const { body } = await weir.call('POST', '/sql', { query, params: { site } });
  return { rows: Number(body.data.rows[0].rows), lines: Number(body.data.rows[0].lines) };
}
async function stored(site: string, digest: string, lines: number, lease: string): Promise<void> {
  const finish = { lease, lines };
  await eventually('queryable', async () => {
    const { body } = await weir.call('POST', `/sites/${site}/imports/${digest}/finish`, finish);
    return body.data.queryable;
  });
}

test('chunks advance the ledger, rows have the source import, and importing a finished file again adds no rows', async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { body } = await start(site, digest);
  expect(body.data).toMatchObject({ lines_done: 0, finished: false, lease: expect.any(String) });
  const { lease } = body.data;
  expect((await send(site, digest, chunk(lease, 1, 50))).body.data).toMatchObject({
    lines_done: 50,
    hits_appended: 50,
  });
  // The answer was lost, and the client sends the chunk again.
  expect((await send(site, digest, chunk(lease, 1, 50))).body.data).toMatchObject({
    lines_done: 50,
    hits_appended: 50,
  });
  expect((await send(site, digest, chunk(lease, 60, 70))).status).toBe(409);
  expect((await send(site, digest, chunk(lease, 51, 60))).body.data).toMatchObject({ lines_done: 60 });
  expect((await weir.call('POST', `/sites/${site}/imports/${digest}/finish`, { lease, lines: 61 })).status).toBe(409);
  await stored(site, digest, 60, lease);
  expect(await rows(site)).toEqual({ rows: 60, lines: 60 });
  expect((await start(site, digest)).body.data).toMatchObject({ finished: true, lease: null, lines_done: 60 });
  expect((await weir.call('GET', `/sites/${site}/imports`)).body.data).toMatchObject([
    { file_digest: digest, finished: true },
  ]);
  const query = 'SELECT DISTINCT source AS source, type AS type FROM events WHERE site_id = {site:String}';
  expect((await weir.call('POST', '/sql', { query, params: { site } })).body.data.rows).toEqual([
    { source: 'import', type: 'pageview' },
  ]);
});

describe('after a failed append the chunk stays pending, and its repeat adds the missing hits', () => {
  test.each<AppendFault>(['refused', 'half', 'stored-unknown', 'lost-unknown'])('%s', async (kind) => {
    const [site, digest] = [await weir.newSite(), newDigest()];
    const { lease } = (await start(site, digest)).body.data;
    appends.fault = kind;
    const failed = await send(site, digest, chunk(lease, 1, 40));
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    appends.fault = 'none';
    // Simulates a kill of control. Afterwards, only the registry has information about the chunk.
    weir.forgetControl();
    expect((await send(site, digest, chunk(lease, 1, 40))).body.data).toMatchObject({
      lines_done: 40,
      hits_appended: 40,
    });
    await stored(site, digest, 40, lease);
    expect(await rows(site)).toEqual({ rows: 40, lines: 40 });
  });
});

// With 0 pending lines, the dump of the registry was taken before the first chunk. With 30, it was taken while the first chunk was being appended.
test.each([0, 30])(
  'importing a file again adds no rows, if the registry was restored from an older dump (%i lines pending)',
  async (linesPending) => {
    const [site, digest] = [await weir.newSite(), newDigest()];
    const { lease } = (await start(site, digest)).body.data;
    for (const first of [1, 31]) expect((await send(site, digest, chunk(lease, first, first + 29))).status).toBe(200);
    await stored(site, digest, 60, lease);
    const entry = weir.registry.import(site, digest);
    if (entry === undefined) throw new Error('the ledger does not have the import');
    await weir.registry.putImport({ ...entry, linesDone: 0, linesPending, hitsAppended: 0, finished: false });
    weir.forgetControl();
    const again = (await start(site, digest)).body.data;
    expect(again).toMatchObject({ lines_done: 0, finished: false });
    for (const first of [1, 31]) {
      expect((await send(site, digest, chunk(again.lease, first, first + 29))).status).toBe(200);
    }
    // These lines are new: the earlier import did not send them.
    expect((await send(site, digest, chunk(again.lease, 61, 70))).status).toBe(200);
    await stored(site, digest, 70, again.lease);
    expect(await rows(site)).toEqual({ rows: 70, lines: 70 });
  },
);

test('a resumed import may divide the file into other chunks', async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  appends.fault = 'half';
  expect((await send(site, digest, chunk(lease, 1, 40))).status).toBe(503);
  appends.fault = 'none';
  weir.forgetControl();
  const again = (await start(site, digest)).body.data;
  expect(again.lines_done).toBe(0);
  expect((await send(site, digest, chunk(again.lease, 1, 15))).status).toBe(200);
  expect((await send(site, digest, chunk(again.lease, 16, 70))).status).toBe(200);
  await stored(site, digest, 70, again.lease);
  expect(await rows(site)).toEqual({ rows: 70, lines: 70 });
});

test('after an append with an unknown result, hits are not looked up until the append must have succeeded or failed', async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  appends.fault = 'lost-unknown';
  await send(site, digest, chunk(lease, 1, 5));
  appends.fault = 'none';
  const early = await send(site, digest, chunk(lease, 1, 5));
  expect([early.status, Number(early.headers.get('retry-after')) > 0]).toEqual([503, true]);
});

test('only one client at a time can import a file', async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  const second = await start(site, digest);
  expect([second.status, second.headers.get('retry-after')]).toEqual([409, '1']);
  expect((await send(site, digest, chunk('other', 1, 5))).status).toBe(409);
  await weir.call('POST', `/sites/${site}/imports/${digest}/release`, { lease });
  expect((await start(site, digest)).status).toBe(200);
});

test('a lease that is released while its chunk runs ends when the chunk is done', async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  const closedGate = deferred();
  gate = closedGate.promise;
  const running = send(site, digest, chunk(lease, 1, 40));
  await eventually('the chunk is pending', () => weir.registry.import(site, digest)?.linesPending === 40);
  await weir.call('POST', `/sites/${site}/imports/${digest}/release`, { lease });
  const early = [await start(site, digest), await send(site, digest, chunk(lease, 1, 40))];
  closedGate.resolve();
  expect(early.map(({ status }) => status)).toEqual([409, 409]);
  expect((await running).body.data).toMatchObject({ lines_done: 40 });
  const next = (await start(site, digest)).body.data;
  expect(next).toMatchObject({ lines_done: 40, lease: expect.any(String) });
  await stored(site, digest, 40, next.lease);
  expect(await rows(site)).toEqual({ rows: 40, lines: 40 });
});

test('a lease that is released after an append with an unknown result does not end before that append must have succeeded or failed', async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  appends.fault = 'lost-unknown';
  await send(site, digest, chunk(lease, 1, 5));
  await weir.call('POST', `/sites/${site}/imports/${digest}/release`, { lease });
  expect((await start(site, digest)).status).toBe(409);
});

test('an import that is finished while its last chunk runs waits for that chunk', async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  const closedGate = deferred();
  gate = closedGate.promise;
  const running = send(site, digest, chunk(lease, 1, 5));
  await eventually('the chunk is pending', () => weir.registry.import(site, digest)?.linesPending === 5);
  const finished = weir.call('POST', `/sites/${site}/imports/${digest}/finish`, { lease, lines: 5 });
  // This request is answered in the meantime: finishing waits for the chunk, and other requests do not wait.
  await weir.call('GET', `/sites/${site}/imports`);
  closedGate.resolve();
  expect((await running).status).toBe(200);
  expect((await finished).body.data).toMatchObject({ finished: true, lines_done: 5 });
  expect(weir.registry.import(site, digest)).toMatchObject({ finished: true, linesDone: 5 });
});

test('a site that is removed while a chunk is appended leaves no row in the ledger, so a new site with its ID gets all lines', async () => {
  const digest = newDigest();
  const create = () => weir.call('POST', '/sites', { site_id: 'again', name: 'N', domain: 'example.com' });
  await create();
  const { lease } = (await start('again', digest)).body.data;
  const closedGate = deferred();
  gate = closedGate.promise;
  const running = send('again', digest, chunk(lease, 1, 40));
  await eventually('the chunk is pending', () => weir.registry.import('again', digest)?.linesPending === 40);
  expect((await weir.call('DELETE', '/sites/again')).status).toBe(200);
  closedGate.resolve();
  expect((await running).status).toBe(404);
  expect(weir.registry.import('again', digest)).toBeUndefined();

  await eventually('the removed site is erased', async () => (await create()).status === 201);
  const begin = async () => (await start('again', digest)).body.data;
  let second = await begin();
  await eventually('the lease of the first import ends', async () => {
    second ??= await begin();
    return second !== undefined;
  });
  expect(second).toMatchObject({ lines_done: 0, lease: expect.any(String) });
  expect((await send('again', digest, chunk(second.lease, 1, 40))).body.data).toMatchObject({ lines_done: 40 });
  await stored('again', digest, 40, second.lease);
  expect(await rows('again')).toEqual({ rows: 40, lines: 40 });
});

test("a visitor's hits stay in order in one partition", async () => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  const before = await weir.eventLog.positions(TOPIC_RAW, 'none');
  await send(site, digest, {
    ...chunk(lease, 1, 20),
    hits: chunk(lease, 1, 20).hits.map((one) => ({ ...one, ip: '192.0.2.9' })),
  });
  const after = await weir.eventLog.positions(TOPIC_RAW, 'none');
  expect(after.map(({ end }, index) => end - (before[index]?.end ?? 0)).sort((a, b) => a - b)).toEqual([0, 0, 0, 20]);
});

test.each([
  [{ first_line: 1, last_line: 2, hits: [hit(3)] }, /^line must rise/],
  [{ first_line: 1, last_line: 2, hits: [hit(2), hit(1)] }, /^line must rise/],
  [{ first_line: 2, last_line: 1, hits: [] }, /^last_line must be/],
  [{ first_line: 1, last_line: 1, hits: [{ ...hit(1), url: 7 }] }, /^hits.0.url must be string/],
  [{ first_line: 1, last_line: 1 }, /^a chunk must have either hits or rows/],
  [{ first_line: 1, last_line: 1, hits: [], rows: [[]] }, /^a chunk must have either hits or rows/],
  [{ first_line: 1, last_line: 2, rows: [[]] }, /^rows must have one row per line/],
  [{ first_line: 1, last_line: 1, rows: [['row']] }, /^row 1: must have \d+ values/],
])('400: %j', async (body, message) => {
  const [site, digest] = [await weir.newSite(), newDigest()];
  const { lease } = (await start(site, digest)).body.data;
  const reply = await send(site, digest, { lease, ...body });
  expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringMatching(message)]);
});

test('404 for an unknown site, an unknown import or an invalid digest', async () => {
  const site = await weir.newSite();
  expect((await start('none', newDigest())).status).toBe(404);
  expect((await send(site, newDigest(), chunk('l', 1, 1))).status).toBe(404);
  expect((await start(site, 'no digest')).status).toBe(400);
});
