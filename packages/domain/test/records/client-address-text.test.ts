import fc from 'fast-check';
import type { Json } from '../../src/json/json.ts';
import { withoutClientAddress } from '../../src/records/client-address-text.ts';

test.each([
  ['{"name":"e","context":{"ip":"203.0.113.7"}}', '{"name":"e","context":{"ip":""}}'],
  ['{"context":{"url":"/","ip" : "203.0.113.7" ,"platform":"x"}}', '{"context":{"url":"/","ip" :"","platform":"x"}}'],
  ['{"ip":"203.0.113.7","name":"e"}', '{"ip":"","name":"e"}'],
  ['{ "context" : {\n"ip":\t"203.0.113.7"\n} }', '{ "context" : {\n"ip":""} }'],
  // Repeated keys: only the last value counts, but the log would store all values.
  ['{"context":{"ip":"203.0.113.7"},"context":{"ip":"203.0.113.8"}}', '{"context":{"ip":""},"context":{"ip":""}}'],
  ['{"context":{"ip":"203.0.113.7"},"context":{}}', '{"context":{"ip":""},"context":{}}'],
  ['{"context":{"ip":"1.1.1.1","ip":"203.0.113.7"}}', '{"context":{"ip":"","ip":""}}'],
  // Keys with escapes.
  ['{"context":{"\\u0069p":"203.0.113.7"}}', '{"context":{"\\u0069p":""}}'],
  ['{"context":{"i\\u0070":"203.0.113.7"}}', '{"context":{"i\\u0070":""}}'],
  ['{"cont\\u0065xt":{"\\u0069\\u0070":"1\\u002e2.3.4"}}', '{"cont\\u0065xt":{"\\u0069\\u0070":""}}'],
  ['{"a\\"b\\\\":"\\"ip\\"","context":{"ip":"203.0.113.7"}}', '{"a\\"b\\\\":"\\"ip\\"","context":{"ip":""}}'],
  // The address is not a string but another JSON value.
  ['{"ip":["203.0.113.7",{"ip":"203.0.113.7"}],"name":"ip"}', '{"ip":"","name":"ip"}'],
  ['{"context":{"ip":null,"url":"/"}}', '{"context":{"ip":"","url":"/"}}'],
  ['{"ip":{"context":{"a":[1,2]}},"context":{"ip":"::1"}}', '{"ip":"","context":{"ip":""}}'],
])('%s', (text, wanted) => {
  const result = withoutClientAddress(text);
  expect(result).toBe(wanted);
  expect(JSON.parse(result)).toEqual(JSON.parse(wanted));
  expect(withoutClientAddress(text, JSON.parse(text))).toBe(wanted);
});

test.each([
  '{"name":"e","properties":{"ip":"203.0.113.7"}}',
  '{"name":"e","properties":{"context":{"ip":"203.0.113.7"}}}',
  '{"properties":{"\\u0069p":"203.0.113.7"}}',
  '{"context":{"nested":{"ip":"203.0.113.7"}}}',
  '{"context":[{"ip":"203.0.113.7"}]}',
  '{"name":"ip","value":"ip"}',
  '{"name":"context","properties":{"a":{"ip":1}},"context":{"url":"ip"}}',
])("the caller's own data stays: %s", (text) => {
  expect(withoutClientAddress(text)).toBe(text);
  expect(withoutClientAddress(text, JSON.parse(text))).toBe(text);
});

test('everything except the addresses stays as it was sent', () => {
  const key = fc.constantFrom('ip', 'context', 'properties', 'a', 'i"p', 'ip\\');
  const { json } = fc.letrec<{ json: Json; object: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('203.0.113.7', 'ip', '"ip":', '{', '\\'),
      fc.integer(),
      tie('object'),
      fc.array(tie('json'), { maxLength: 3 }),
    ),
    object: fc.dictionary(key, tie('json'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, json), fc.boolean(), (body, pretty) => {
      const text = JSON.stringify(body, null, pretty ? 2 : 0);
      const wanted = structuredClone(body) as Record<string, unknown>;
      if ('ip' in wanted) wanted.ip = '';
      const { context } = wanted;
      if (typeof context === 'object' && context !== null && !Array.isArray(context) && 'ip' in context)
        context.ip = '';
      const result = withoutClientAddress(text);
      expect(JSON.parse(result)).toEqual(wanted);
      expect(withoutClientAddress(text, JSON.parse(text))).toBe(result);
    }),
    { numRuns: 2_000 },
  );
});
