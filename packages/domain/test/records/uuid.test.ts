import { isUuid } from '../../src/records/uuid.ts';

const UUID = '01975a00-0f1e-7000-8aBC-00000000009F';
const PATTERN = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

test('accepts what the pattern of a UUID accepts, for each character at each position', () => {
  expect(isUuid(UUID)).toBe(true);
  for (const text of ['', `${UUID}0`, `${UUID}\n`, UUID.slice(1), UUID.replaceAll('-', '')])
    expect(isUuid(text)).toBe(false);
  for (let at = 0; at < UUID.length; at++) {
    for (let code = 0; code <= 0x200; code++) {
      const text = UUID.slice(0, at) + String.fromCharCode(code) + UUID.slice(at + 1);
      if (isUuid(text) !== PATTERN.test(text)) throw new Error(`${JSON.stringify(text)}: ${isUuid(text)}`);
    }
  }
});
