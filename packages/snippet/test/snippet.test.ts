import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUrl } from '../src/clean-url.ts';
import { matches } from '../src/options.ts';

describe('globs', () => {
  test.each([
    ['/admin*', '/admin/users', true],
    ['/admin*', '/x/admin', false],
    ['/a, /b', '/b', true],
    ['/a /b', '/b', true],
    ['/a.b', '/axb', false],
    ['*.example.com,example.com', 'www.example.com', true],
    ['*.example.com', 'example.com.evil', false],
    ['/(((a+)+)+$', '/aaaa', false],
    ['*', '', true],
    ['', '/', false],
  ])('%j matches %j: %j', (globs, text, expected) => {
    expect(matches(globs, text)).toBe(expected);
  });
});

test('a URL is sent without its fragment, and cut to the length that the server stores', () => {
  expect(cleanUrl('https://a.example/b?c=d#token=secret')).toBe('https://a.example/b?c=d');
  expect(cleanUrl(`https://a.example/${'x'.repeat(9_000)}`)).toHaveLength(4_096);
});

describe('the built scripts', () => {
  const read = (file: string): Buffer => readFileSync(join(__dirname, '../../../dist/public', file));

  test('weir.js sets one global and uses nothing that a strict content security policy refuses', () => {
    const code = read('weir.js').toString();
    expect(code).not.toMatch(/\beval\(|\bFunction\(|\.innerHTML|document\.write/);
    expect(new Set(code.match(/window\.\w+/g))).toEqual(new Set(['window.weir']));
  });

  test.each(['weir.js', 'weir.core.js', 'weir-stub.js'])('%s declares nothing outside its block', (file) => {
    const code = read(file).toString();
    expect(code).toMatch(/^\{.*\}$/);
    // In a script, `var` and `function` in a block also declare globals.
    expect(code).not.toMatch(/\b(var|function)\b/);
  });
});
