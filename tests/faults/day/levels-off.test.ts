import { judgeLevel, quartersOf } from './levels-off.ts';

const HOURS = Array.from({ length: 96 }, (_, n) => 24 + n / 4);
const levelsOff = (valueAt: (hour: number) => number, slack = 0): boolean =>
  judgeLevel(quartersOf(HOURS.map(valueAt)), slack).levelsOff;
const MB = 1_000_000;

test('a use that grows evenly from the start does not level off', () => {
  expect(levelsOff((hour) => hour * MB)).toBe(false);
});

test('a use that grows within a window of 24 or 30 hours levels off', () => {
  expect(levelsOff((hour) => Math.min(hour, 24) * MB)).toBe(true);
  expect(levelsOff((hour) => Math.min(hour, 30) * MB)).toBe(true);
});

test('a use that varies around a level levels off', () => {
  expect(levelsOff((hour) => 300 * MB + Math.sin(hour * 5) * 50 * MB)).toBe(true);
});

test('a use that shrinks levels off', () => {
  expect(levelsOff((hour) => (100 - hour) * MB)).toBe(true);
});

test('growth up to the slack is not counted', () => {
  expect(levelsOff((hour) => hour, 10)).toBe(true);
  expect(levelsOff((hour) => hour, 2)).toBe(false);
});

test('quarters have all values, in their order', () => {
  expect(quartersOf([1, 2, 3, 4, 5, 6, 7])).toEqual([[1], [2, 3], [4, 5], [6, 7]]);
});
