import { deliverBatch } from '../src/deliver.ts';
import type { QueuedCall } from '../src/event.ts';
import { createTransport } from '../src/transport.ts';

test('a 200 that holds a 429 leaves that event alone, for as long as its Retry-After says', async () => {
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
  // No result for it: it is sent again too.
  expect(await deliverBatch(post, calls)).toMatchObject({ settled: [first], left: [second, third] });
});
