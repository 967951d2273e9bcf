import { COLUMN_DIMENSION_NAMES, DONE_DIMENSION_NAMES } from '@weir/control/reports/dimensions';
import { DE } from '../src/i18n/de.ts';
import { EN } from '../src/i18n/en.ts';
import { createFormats } from '../src/i18n/formats.ts';
import { conditionText, DIMENSIONS, isDone, valuesDimension } from '../src/reports/dimension-view.ts';
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
