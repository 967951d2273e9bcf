import { cutQuery } from '../../src/ingest/query-allow.ts';

const cut = (url: string, ...names: string[]) => cutQuery(url, (name) => names.includes(name));

/** A site can have a list of the query parameters that its stored URLs keep. */
describe('a query is reduced to the parameters of an allow-list', () => {
  test.each([
    ['https://a.example/p?page=2&token=s3cret&q=x#f', 'https://a.example/p?page=2&q=x#f'],
    ['https://a.example/p?token=s3cret', 'https://a.example/p'],
    ['https://a.example/p?token=s3cret#f', 'https://a.example/p#f'],
    ['/p?q=1&&q=2&', '/p?q=1&q=2'],
    ['/p?q&page', '/p?q&page'],
    ['/p?%71=1&to%6ben=2', '/p?%71=1'],
    ['/p?Q=1&q[]=2&qq=3', '/p'],
    ['/p?q=a?token=b', '/p?q=a?token=b'],
    ['/p?token=a?q=b', '/p'],
    ['/p?%E0%A4%A=1&q=%E0', '/p?q=%E0'],
    ['/p#a?token=1', '/p#a?token=1'],
    ['?token=1', ''],
    ['no url', 'no url'],
  ])('%s -> %s', (url, expected) => {
    expect(cut(url, 'q', 'page')).toBe(expected);
  });

  test('an empty list keeps nothing; names are whole and case-sensitive', () => {
    expect(cut('/p?a=1&b=2')).toBe('/p');
    expect(cut('/p?a=1&A=2&aa=3', 'a')).toBe('/p?a=1');
  });
});
