import { deliverBatch } from '../src/deliver.ts';
import type { QueuedCall } from '../src/event.ts';
import { createTransport } from '../src/transport.ts';
import { Weir } from '../src/weir.ts';

/** A transport to a simulated Weir that allows `limit` events per minute, of which `remaining` are left. */
function limitedPost(limit: number, remaining: number) {
  const sizes: number[] = [];
  let left = remaining;
  const answer: typeof fetch = async (_, init) => {
    const { events } = JSON.parse(String(init?.body)) as { events: unknown[] };
    sizes.push(events.length);
    if (events.length > limit) {
      const error = { code: 400, message: 'more than the rate limit' };
      return Response.json({ status: 'error', error }, { status: 400, headers: { 'ratelimit-limit': String(limit) } });
    }
    if (events.length > left) {
      return new Response(null, { status: 429, headers: { 'retry-after': '9', 'ratelimit-remaining': String(left) } });
    }
    left -= events.length;
    return Response.json({ status: 'success', data: { results: events.map(() => ({ accepted: true })) } });
  };
  return { sizes, post: createTransport({ url: 'http://weir.test', apiKey: 'k', timeoutMs: 1_000, fetch: answer }) };
}

test('a batch that can never fit is sent in smaller batches, and no event is refused', async () => {
  const { post, sizes } = limitedPost(4, 3);
  const calls: QueuedCall[] = Array.from({ length: 10 }, (_, n) => ({ id: `${n}`, kind: 'event', body: '{}' }));
  const first = await deliverBatch(post, calls);
  expect(first).toEqual({ settled: calls.slice(0, 3), refused: [], left: calls.slice(3), afterMs: 0 });
  expect(sizes).toEqual([10, 4, 3]);
  // The rate limit is used up: all events wait until the window ends.
  expect(await deliverBatch(post, first.left)).toEqual({ settled: [], refused: [], left: first.left, afterMs: 9_000 });
  expect(sizes).toEqual([10, 4, 3, 7, 4]);
});

test('a 400 for a whole batch, without a rate limit in its headers, is reported for each event', async () => {
  const answer = async () => Response.json({ status: 'error', error: { code: 400, message: 'no' } }, { status: 400 });
  const post = createTransport({ url: 'http://weir.test', apiKey: 'k', timeoutMs: 1_000, fetch: answer });
  const calls: QueuedCall[] = ['a', 'b'].map((id) => ({ id, kind: 'event', body: '{}' }));
  expect(await deliverBatch(post, calls)).toMatchObject({ settled: calls, left: [], refused: [{ status: 400 }, {}] });
});

test('a 429 inside a 200 delays that event for the time of Retry-After', async () => {
  const data = { results: [{ accepted: true }, { error: { code: 429, message: 'Rate limit exceeded' } }] };
  const answer = async () => Response.json({ status: 'success', data }, { headers: { 'retry-after': '7' } });
  const post = createTransport({ url: 'http://weir.test', apiKey: 'k', timeoutMs: 1_000, fetch: answer });
  const calls: QueuedCall[] = ['a', 'b', 'c'].map((id) => ({ id, kind: 'event', body: '{}' }));
  const [first, second, third] = calls;
  expect(await deliverBatch(post, calls.slice(0, 2))).toEqual({
    settled: [first],
    refused: [],
    left: [second],
    afterMs: 7_000,
  });
  // The third event has no result, so it is also sent again.
  expect(await deliverBatch(post, calls)).toMatchObject({ settled: [first], left: [second, third] });
});

test('a call of a batch that is delivered leaves room in the queue, also while another call of the batch waits', async () => {
  const results = [{ accepted: true }, { accepted: true }, { error: { code: 503, message: 'later' } }];
  const answer = async () =>
    Response.json({ status: 'success', data: { results } }, { headers: { 'retry-after': '3600' } });
  const undelivered: string[] = [];
  const onError = ({ reason }: { readonly reason: string }): void => void undelivered.push(reason);
  const weir = new Weir({
    url: 'http://weir.test',
    apiKey: 'k',
    batch: true,
    queueCallsMax: 3,
    fetch: answer,
    onError,
  });
  weir.track('first');
  weir.track('second');
  const flushed = weir.flush();
  weir.track('third');
  await flushed;
  expect(['fourth', 'fifth', 'sixth'].map((name) => weir.track(name))).toEqual([true, true, false]);
  expect(undelivered).toEqual(['the queue is full']);
  await weir.close(0);
});

test('a batch that is refused as too large after close has begun is not divided: close waits only for one request', async () => {
  const tooLarge = () => new Response('', { status: 413 });
  let requests = 0;
  let asked = (): void => undefined;
  let answer = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const answering = async (): Promise<Response> => {
    requests += 1;
    if (requests > 1) return tooLarge();
    asked();
    return new Promise((resolve) => {
      answer = () => resolve(tooLarge());
    });
  };
  const weir = new Weir({ url: 'http://weir.test', apiKey: 'k', batch: true, fetch: answering });
  for (const name of ['first', 'second', 'third', 'fourth']) weir.track(name);
  await isAsked;
  const flushed = weir.flush();
  const closed = weir.close(0);
  // A flush ends when the client is closed.
  await flushed;
  answer();
  expect(await closed).toBe(4);
  expect(requests).toBe(1);
});
