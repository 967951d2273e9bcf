import { hideCredentials } from '../../src/net/hide-credentials.ts';
import { objectStoreUrlProblem } from '../../src/net/object-store-url.ts';

test.each([
  ['s3://bucket/a', 's3://bucket/a'],
  ['s3://KEY:SECRET@bucket/a', 's3://…@bucket/a'],
  ['redis://user:SEC/RET@host', 'redis://…@host'],
  ['user:SEC@RET@host:9092', '…@host:9092'],
  ['SECRET@host', '…@host'],
  ['/srv/archive', '/srv/archive'],
])('%s is shown as %s', (url, shown) => {
  expect(hideCredentials(url)).toBe(shown);
});

test('the problem of the URL of an object store does not contain the credentials of the URL', () => {
  expect(objectStoreUrlProblem('s3://KEY:SECRET@bucket')).toMatch(/must be .* not "s3:\/\/…@bucket"/);
});
