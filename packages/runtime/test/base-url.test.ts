import { baseUrl } from '../src/config/base-url.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['weir.internal', 'http://weir.internal:8080'],
  ['::1', 'http://[::1]:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://[::1]:8080'],
])('a Weir with HOST=%s is reached at %s', (host, url) => {
  expect(baseUrl(host, 8080)).toBe(url);
  expect(URL.canParse(url)).toBe(true);
});
