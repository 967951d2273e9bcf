import { readRedisUrl } from '../../src/net/redis-url.ts';

test('credentials are decoded', () => {
  expect(readRedisUrl('rediss://user:pa%2Fs%40s@host:1/2')).toMatchObject({
    username: 'user',
    password: 'pa/s@s',
    hosts: [{ host: 'host', port: 1 }],
    db: 2,
    tls: true,
  });
});

test.each([
  'redis://user:SEC/RET@host',
  'redis://user:SEC@RET@host',
  'redis://:SEC/RET@host/0',
  'redis+sentinel://user:SEC/RET@host/master',
  'redis+cluster://user:SEC@RET@host,other',
  'redis://user:SEC RET@host:x',
  'redis:/user:SECRET@host',
  'redis://user:SEC%RET@host',
  'redis://host:65536',
])('%s is refused, and the message contains no part of the password', (url) => {
  let message = '';
  try {
    readRedisUrl(url);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toMatch(/^REDIS_URL/);
  expect(message).not.toMatch(/SEC|RET/);
});
