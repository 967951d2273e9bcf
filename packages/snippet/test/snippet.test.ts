import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
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

  test.each([
    ['weir.core.js', 1_630],
    ['weir.js', 2_480],
  ])('%s has at most %i bytes after compression, by Node and by gzip -9', (file, bytesMax) => {
    const code = read(file);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(bytesMax);
    // If the program gzip is missing, its output has 0 bytes.
    const { stdout } = spawnSync('gzip', ['-9'], { input: code });
    expect(stdout?.length ?? 0).toBeLessThanOrEqual(bytesMax);
  });

  test('weir.js sets one global and uses nothing that a strict content security policy refuses', () => {
    const code = read('weir.js').toString();
    expect(code).not.toMatch(/\beval\(|\bFunction\(|\.innerHTML|document\.write/);
    expect(new Set(code.match(/window\.\w+/g))).toEqual(new Set(['window.weir']));
  });
});
