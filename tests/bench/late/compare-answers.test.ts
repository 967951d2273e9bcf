import { compareAnswers } from './compare-answers.ts';

it('counts the values of equal answers', () => {
  const answer = () => ({ totals: { visits: 3, rate: null }, rows: [{ value: 'a' }, { value: 'b' }] });
  expect(compareAnswers(answer(), answer())).toEqual({ values: 4, differences: [] });
});

it('finds different values, missing values, a different order and different types', () => {
  expect(compareAnswers({ visits: 3 }, { visits: 4 })).toEqual({ values: 1, differences: ['/visits: 3 and 4'] });
  expect(compareAnswers({ visits: 3 }, {}).differences).toEqual(['/visits: 3 and undefined']);
  expect(compareAnswers([1], [1, 2])).toEqual({ values: 2, differences: ['/1: undefined and 2'] });
  expect(compareAnswers(['a', 'b'], ['b', 'a']).differences).toHaveLength(2);
  expect(compareAnswers([], {}).differences).toHaveLength(1);
  expect(compareAnswers({ rate: null }, { rate: 0 }).differences).toHaveLength(1);
  expect(compareAnswers({ rate: null }, { rate: {} }).differences).toHaveLength(1);
});
