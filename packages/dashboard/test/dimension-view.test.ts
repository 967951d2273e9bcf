import { COLUMN_DIMENSION_NAMES, DONE_DIMENSION_NAMES } from '@weir/control/reports/dimensions';
import { DE } from '../src/i18n/de.ts';
import { EN } from '../src/i18n/en.ts';
import { createFormats } from '../src/i18n/formats.ts';
import {
  conditionText,
  DIMENSIONS,
  filterValuesText,
  isDone,
  pathText,
  valuesDimension,
} from '../src/reports/dimension-view.ts';
import { parseFilter } from '../src/reports/filter-text.ts';

test('each dimension of the reports has a name: a text dimension.NAME in src/i18n/en.ts and de.ts', () => {
  expect(DIMENSIONS.toSorted()).toEqual([...COLUMN_DIMENSION_NAMES, ...DONE_DIMENSION_NAMES].toSorted());
  expect(DIMENSIONS.filter(isDone)).toEqual(DONE_DIMENSION_NAMES);
});

test.each([
  ['page:is:/', 'Page is', 'Seite ist'],
  ['property:plan:is_not:pro', 'plan is not', 'plan ist nicht'],
  ['done_event:is:Signup', 'Has done event:', 'Hat Ereignis ausgelöst:'],
  ['done_event:is_not:Signup', 'Has not done event:', 'Hat Ereignis nicht ausgelöst:'],
  ['viewed_page:matches:/a*', 'Has viewed page: matches', 'Hat Seite besucht: passt auf'],
  ['viewed_page:contains_not:a', 'Has not viewed page: contains', 'Hat Seite nicht besucht: enthält'],
])('%s is shown as "%s"', (text, english, german) => {
  const filter = parseFilter(text);
  if (filter === undefined) throw new Error(`${text} is no filter`);
  const shown = (language: 'en' | 'de', catalogue: Readonly<Record<keyof typeof EN, unknown>>) =>
    conditionText({ ...createFormats(language), language, t: (key) => String(catalogue[key]) }, filter);
  expect([shown('en', EN), shown('de', DE)]).toEqual([english, german]);
});

test('filters on what visitors have done offer the values of events and pages', () => {
  expect(['done_event', 'viewed_page', 'country'].map(valuesDimension)).toEqual(['event', 'page', 'country']);
});

test.each([
  ['/%C3%9Cber%20uns/?q=%E6%B0%B4', '/Über uns/?q=水'],
  ['/a%2Fb%3Fc', '/a%2Fb%3Fc'],
  ['/100%', '/100%'],
  ['/wiki/100%25/a%5Bb%5D', '/wiki/100%25/a%5Bb%5D'],
  ['/%FF/%C3%9C', '/%FF/Ü'],
  ['/%FF', '/%FF'],
  ['/%C3%9C%26%C3%9C%FF%20%2Fb', '/Ü%26Ü%FF %2Fb'],
  ['/%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9', '/👨%E2%80%8D👩'],
  ['/%C0%AF%ED%A0%80', '/%C0%AF%ED%A0%80'],
  ['/a%0Ab%E2%80%AE', '/a%0Ab%E2%80%AE'],
  ['', ''],
])('the path %s is shown as %s', (path, shown) => {
  expect(pathText(path)).toBe(shown);
});

test('a filter shows two spellings of a path as one', () => {
  const texts = { ...createFormats('en'), language: 'en', t: (key: keyof typeof EN) => String(EN[key]) } as const;
  const filter = { dimension: 'entry', operator: 'is', values: ['/Über uns/*', '/%C3%9Cber%20uns/*', '/'] } as const;
  expect(filterValuesText(texts, filter)).toBe('/Über uns/*, /');
});
