import { toClickhouseError } from '../src/clickhouse-error.ts';

test.each([
  ['Code: 241. DB::Exception: (total) memory limit exceeded', 241],
  ["Failed to create connection for path '/data/clickhouse'.", 202],
  ['something else', 1001],
])('%s has the code %i', (text, code) => {
  expect(toClickhouseError(new Error(text)).code).toBe(code);
});
