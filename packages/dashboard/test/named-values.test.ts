import { EN } from '../src/i18n/en.ts';
import { createFormats } from '../src/i18n/formats.ts';
import type { Texts } from '../src/i18n/text-context.tsx';
import { isFound, searchOf, valuesOf } from '../src/suggest/named-values.ts';
import { bundlePages } from './rendered-page.ts';

const texts: Texts = { ...createFormats('en'), language: 'en', t: (key) => String(EN[key]) };
const pages = bundlePages('suggest/value-options.tsx');

test('values are offered by their names, which the server does not know', async () => {
  const { render } = await pages;
  const rows = ['DE', 'FR', 'GE', ''].map((value) => ({ value }));
  const offered = (word: string) => {
    const props = { id: 'values', dimension: 'country', state: { query: {} }, word };
    const { html, asked } = render('ValueOptions', '/dashboard', { breakdown: { rows } }, props);
    expect(JSON.stringify(asked)).not.toContain('contains');
    return [...html.matchAll(/value="(\w*)"/g)].map((match) => match[1]);
  };
  expect([offered('germ'), offered('ge'), offered('none')]).toEqual([['DE'], ['DE', 'GE'], ['']]);
});

test('the filters of the page do not limit the values for a filter on what a visitor has done', async () => {
  const { render } = await pages;
  const asked = (dimension: string) => {
    const props = { id: 'values', dimension, state: { query: { filter: ['country:is:DE'] } }, word: 'sig' };
    return render('ValueOptions', '/dashboard', { breakdown: { rows: [] } }, props).asked[0];
  };
  const path = { site_id: 's' };
  const query = { dimension: 'event', filter: ['event:contains:sig'], limit: 30 };
  expect(asked('done_event')).toEqual(['breakdown', path, query]);
  expect(asked('event')).toEqual(['breakdown', path, { ...query, filter: ['country:is:DE', ...query.filter] }]);
});

test('with 20 filters, the page searches the values itself, because the search would be a 21st filter', async () => {
  const { render } = await pages;
  const filter = Array.from({ length: 20 }, (_, page) => `viewed_page:is:/${page}`);
  const offered = (filters: readonly string[]) => {
    const props = { id: 'values', dimension: 'page', state: { query: { filter: filters } }, word: 'PRI' };
    const rows = [{ value: '/pricing' }, { value: '/about' }];
    const { html, asked } = render('ValueOptions', '/dashboard', { breakdown: { rows } }, props);
    return [asked[0]?.[2], [...html.matchAll(/value="([^"]*)"/g)].map((match) => match[1])];
  };
  expect(offered(filter)).toEqual([{ dimension: 'page', filter, limit: 1_000 }, ['/pricing']]);
  const others = filter.slice(1);
  expect(offered(others)).toEqual([
    { dimension: 'page', filter: [...others, 'page:contains:PRI'], limit: 30 },
    ['/pricing', '/about'],
  ]);
});

test('a search by name asks for all values, and finds names and codes', () => {
  expect(searchOf('page', 'pri', 30, [])).toEqual({ filter: ['page:contains:pri'], limit: 30 });
  expect(searchOf('page', '/ü', 30, [])).toEqual({ filter: ['page:contains:/ü'], limit: 30 });
  expect(searchOf('country', 'germ', 30, [])).toEqual({ filter: [], limit: 1_000 });
  expect(searchOf('country', '', 30, [])).toEqual({ filter: [], limit: 30 });
  expect(['DE', 'FR'].map((code) => isFound(texts, 'country', code, 'GERM', []))).toEqual([true, false]);
  expect(isFound(texts, 'page', '/PRICING', 'pri', [])).toBe(true);
});

test.each([
  ['country', 'germany', ['DE']],
  ['country', 'de', ['DE']],
  ['country', 'Atlantis', ['Atlantis']],
  ['language', 'German', ['de', 'de-DE', 'de-AT']],
  ['language', 'American English', ['en-US']],
  ['language', 'French', ['fr']],
  ['device', 'Desktop', ['desktop']],
  ['bot_reason', 'Known bot', ['known_bot']],
  ['page', 'Germany', ['Germany']],
  ['country', '', ['']],
])('a filter on %s by %j has the values %j', (dimension, text, values) => {
  const known = dimension === 'language' ? ['de', 'de-DE', 'de-AT', 'en-US', 'en-GB', 'pl'] : ['DE', 'FR'];
  expect(valuesOf(texts, dimension, text, known)).toEqual(values);
});

test('only a filter on a language waits for the values of the period, because one name can belong to several values', () => {
  const values = (dimension: string, text: string) => valuesOf(texts, dimension, text, undefined);
  expect(values('language', 'German')).toBeUndefined();
  expect([values('language', ''), values('country', 'germany'), values('page', '/')]).toEqual([[''], ['DE'], ['/']]);
});
