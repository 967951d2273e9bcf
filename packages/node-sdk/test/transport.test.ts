import { createTransport } from '../src/transport.ts';
import { Weir } from '../src/weir.ts';

test.each([
  ['https://weir.example.com', 'https://weir.example.com/api/v1/events'],
  ['https://weir.example.com:8443/', 'https://weir.example.com:8443/api/v1/events'],
  ['HTTPS://example.com/weir', 'https://example.com/weir/api/v1/events'],
  ['https://example.com/a/weir//', 'https://example.com/a/weir/api/v1/events'],
  ['https://example.com/weir/?a=b#c', 'https://example.com/weir/api/v1/events'],
])('with the url %s, events are sent to %s', async (url, expected) => {
  const posted: string[] = [];
  const answer: typeof fetch = async (input) => {
    posted.push(String(input));
    return Response.json({ status: 'success' });
  };
  const post = createTransport({ url, apiKey: 'k', timeoutMs: 1_000, fetch: answer });
  expect(await post('/api/v1/events', '{}')).toMatchObject({ outcome: 'done' });
  expect(posted).toEqual([expected]);
});

test.each(['weir.example.com', 'localhost:8080', '/weir', 'ftp://example.com', 'https://', ''])(
  'the url %j throws at once',
  (url) => {
    expect(() => new Weir({ url, apiKey: 'k' })).toThrow(`url must be an http(s) URL, not "${url}"`);
  },
);

test.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 1_500.5, 2 ** 31, '5000'])(
  'the timeout %p throws',
  (timeoutMs) => {
    expect(() => new Weir({ url: 'https://weir.example.com', apiKey: 'k', timeoutMs: timeoutMs as number })).toThrow(
      `timeoutMs must be a whole number from 1 to 2147483647, not the ${typeof timeoutMs} ${timeoutMs}`,
    );
  },
);

test.each([undefined, '', ' \n'])('the key %j throws', (apiKey) => {
  expect(() => new Weir({ url: 'https://weir.example.com', apiKey: apiKey as string })).toThrow(
    'apiKey is missing or empty',
  );
});

test('an invalid key throws; a line break at its end is ignored', async () => {
  expect(() => new Weir({ url: 'https://weir.example.com', apiKey: 'a\nb' })).toThrow('apiKey has characters');
  const keys: (string | null)[] = [];
  const answer: typeof fetch = async (_, init) => {
    keys.push(new Headers(init?.headers).get('authorization'));
    return Response.json({ status: 'success' });
  };
  const post = createTransport({ url: 'https://weir.example.com', apiKey: 'k\n', timeoutMs: 1_000, fetch: answer });
  await post('/api/v1/events', '{}');
  expect(keys).toEqual(['Bearer k']);
});
