import { compileBody } from '../src/http/compile-body.ts';

const check = compileBody({
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 3 },
    limit: { type: ['integer', 'null'] },
    scopes: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, items: { type: 'string' } },
  },
});

test.each([
  [{ name: 7 }, 'name must be string'],
  [{ name: '' }, 'name must not be empty'],
  [{ name: 'long' }, 'name must be at most 3 chars'],
  [{ limit: '5' }, 'limit must be integer or null'],
  [{ scopes: [] }, 'scopes must have at least 1 item'],
  [{ scopes: ['a', 'b', 'c'] }, 'scopes must have at most 2 items'],
  [{ scopes: ['a', 'a'] }, 'scopes must not have an item twice'],
  [{ scopes: ['a', 7] }, 'scopes.1 must be string'],
])('%j: %s', (body, problem) => {
  expect(check(body)).toEqual({ problem });
});

test('a field that is null counts as absent, unless null is one of its values', () => {
  expect(check({ name: null, limit: null })).toEqual({ value: { limit: null } });
});
