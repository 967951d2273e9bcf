import { selectTokenSettings } from '../../src/clickhouse/select-tokens.ts';

test.each([
  ['25.8, which has neither setting', [], {}],
  ['25.12', ['insert_select_deduplicate'], { insert_select_deduplicate: 1 }],
  [
    '26.1 and later, which have the old setting as an obsolete one',
    ['deduplicate_insert_select'],
    { deduplicate_insert_select: 'enable_even_for_bad_queries' },
  ],
])('the settings for INSERT … SELECT with a token, for ClickHouse %s', (_, names, settings) => {
  expect(selectTokenSettings(names.map((name) => ({ name })))).toEqual(settings);
});
