import { timeText } from '../../src/encoding/milliseconds-text.ts';

test.each([
  0,
  7,
  999_999,
  1_000_000,
  1_000_001,
  999_999_999_999,
  1_779_012_000_000,
  1_779_012_000_007,
  1_779_012_999_999,
  4_102_444_799_999,
  1e15,
  Number.MAX_SAFE_INTEGER,
  -1,
  1_779_012_000_000.5,
])('the text of %d is that of String', (ms) => {
  expect(timeText(ms)).toBe(String(ms));
});
