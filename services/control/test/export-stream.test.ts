import { Readable } from 'node:stream';
import { DependencyError } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from './control-harness.ts';

let weir: ControlHarness;
let site = '';
/** The answers of the next queries. `aborts`: there is no answer until the signal aborts. When the list is empty, the queries run in ClickHouse. */
let answers: (Readable | 'aborts')[] = [];
beforeAll(async () => {
  weir = await openControlHarness(undefined, (analytics) => ({
    ...analytics,
    async streamQuery(query, params, options) {
      const answer = answers.shift() ?? (await analytics.streamQuery(query, params, options));
      if (answer !== 'aborts') return answer;
      return new Promise((_, reject) => {
        const end = () => reject(new DependencyError('analytics_unavailable', 'the query was cancelled'));
        options.signal?.addEventListener('abort', end, { once: true });
      });
    },
  }));
  site = (await weir.call('POST', '/sites', { name: 'N', domain: 'example.com', site_id: 'shop' })).body.data.site_id;
});
afterAll(() => weir.close());

const get = (kind: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${weir.url}/api/admin/sites/${site}/export/${kind}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    ...(signal === undefined ? {} : { signal }),
  });

/** An answer that never ends. It stops only when it is destroyed. */
function endless(): Readable {
  return new Readable({
    read() {
      this.push('{"n":1}\n'.repeat(1000));
    },
  });
}

test('a failure in the middle cuts the connection, so that no client takes a part for the whole', async () => {
  async function* failing() {
    yield '{"n":1}\n';
    throw new DependencyError('analytics_unavailable', 'the server stopped');
  }
  answers = [Readable.from(failing(), { objectMode: false })];
  const response = await get('events');
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  expect((await get('events')).status).toBe(200);
});

test('a failure before the first byte is an answer with a reason', async () => {
  const refused = await get('events?filter=country:is:DE&filter=none');
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('filter must')]);
});

test('a client that leaves cancels the query, and its slot is free', async () => {
  for (let n = 0; n < 5; n++) {
    const query = endless();
    answers = [query];
    const leaving = new AbortController();
    const response = await get('sessions', leaving.signal);
    await response.body?.getReader().read();
    leaving.abort();
    await eventually('the query is cancelled', () => query.destroyed);
  }
});

test('a client that leaves before the first byte frees its slot', async () => {
  answers = ['aborts', 'aborts'];
  const leaving = new AbortController();
  const running = ['sessions', 'payments'].map((kind) => expect(get(kind, leaving.signal)).rejects.toThrow());
  await eventually('both queries run', () => answers.length === 0);
  expect((await get('events')).status).toBe(503);
  leaving.abort();
  await Promise.all(running);
  await eventually('a slot is free', async () => (await get('profiles')).status === 200);
});

test('a third export is refused with a reason until one of two ends; a slow reader is not buffered', async () => {
  const queries = [endless(), endless()];
  let produced = 0;
  for (const query of queries) query.on('data', () => undefined).pause();
  queries[0]?.on('data', (chunk: Buffer) => {
    produced += chunk.length;
  });
  queries[0]?.pause();
  answers = [...queries];
  const leaving = new AbortController();
  const running = await Promise.all([get('events', leaving.signal), get('payments', leaving.signal)]);
  expect(running.map(({ status }) => status)).toEqual([200, 200]);
  const third = await get('events');
  expect([third.status, third.headers.get('retry-after')]).toEqual([503, '30']);
  expect(await third.json()).toMatchObject({
    error: { message: '2 exports are running, the most at a time: try again later' },
  });
  // The client does not read. Only the sockets buffer a few megabytes; control must not buffer more.
  let before = -1;
  await eventually('the buffers are full', () => {
    const full = produced > 0 && produced === before;
    before = produced;
    return full;
  });
  expect(produced).toBeLessThan(64 * 1024 * 1024);
  leaving.abort();
  await eventually('a slot is free', async () => (await get('profiles')).status === 200);
});
