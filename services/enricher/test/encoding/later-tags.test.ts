import { campaignTagsOfQuery } from '@weir/domain/acquisition/campaign-tags';
import { hasLaterTags, joinLaterTags, laterTagsOf } from '../../src/encoding/later-tags.ts';

const tags = campaignTagsOfQuery((tag) => `a "${tag}"\t`);

test('later tags are encoded behind the attributes of a visit, and become pairs at the end of a row', () => {
  const own = laterTagsOf(tags, ['utm_term', 'via']);
  expect(own).toBe(`\t${JSON.stringify('a "utm_term"\t')}\t${JSON.stringify('a "via"\t')}`);
  const row = joinLaterTags('1,0,"/"\t"visit term"\t"visit via"', `"","Direct"${own}`);
  expect(JSON.parse(`[${row}]`)).toEqual([1, 0, '/', 'a "utm_term"\t', 'visit term', 'a "via"\t', 'visit via']);
});

test('a visit whose state has the attributes of another version is recognised', () => {
  expect(hasLaterTags('p"/","Direct"', 0)).toBe(true);
  expect(hasLaterTags('p"/","Direct"', 1)).toBe(false);
  expect(hasLaterTags('p"/","Direct"\t"one"', 1)).toBe(true);
  expect(hasLaterTags('p"/","Direct"\t"one"', 2)).toBe(false);
});
