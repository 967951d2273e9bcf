import { pathSpellings } from '../src/reports/parameters.ts';

test.each([
  ['/Über uns', ['/Über uns', '/%C3%9Cber%20uns', '/%c3%9cber%20uns']],
  ['/水/*', ['/水/*', '/%E6%B0%B4/*', '/%e6%b0%b4/*']],
  ['/say "hi"/**', ['/say "hi"/**', '/say%20%22hi%22/**']],
  // A path that is encoded already, also if other parts of it are not.
  ['/%C3%9Cber%20uns', ['/%C3%9Cber%20uns']],
  ['/%C3%9C/ü', ['/%C3%9C/ü', '/%C3%9C/%C3%BC', '/%C3%9C/%c3%bc']],
  ["/a-b_c.d~e!f$g&h'i(j)k*l+m,n;o=p:q@r[s]|t^u\\v", ["/a-b_c.d~e!f$g&h'i(j)k*l+m,n;o=p:q@r[s]|t^u\\v"]],
  ['/blog/*', ['/blog/*']],
  ['/100%', ['/100%']],
  ['/\ud800', ['/\ud800']],
  ['', ['']],
])('rows can have the path %s as %j', (path, spellings) => {
  expect(pathSpellings(path)).toEqual(spellings);
});

test('one of the spellings is the path that URL parsing gives', () => {
  for (let code = 0x20; code < 0x3000; code++) {
    const char = String.fromCodePoint(code);
    // These characters end the path, separate its parts, or are encoded only by some browsers.
    if ('?#\\^'.includes(char)) continue;
    const { pathname } = new URL(`https://example.com/a${char}b`);
    expect(pathSpellings(`/a${char}b`)).toContain(pathname);
  }
});
