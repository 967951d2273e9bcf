import { jsonText, jsonValue } from '../../src/encoding/json-text.ts';

describe('JSON as ClickHouse reads it', () => {
  test('a lone surrogate becomes the replacement character', () => {
    expect(jsonText('a\ud800')).toBe('"a\ufffd"');
    expect(jsonValue({ k: 'a\udc00', l: '\\ud800' })).toBe('{"k":"a\ufffd","l":"\\\\ud800"}');
  });

  test('only whole numbers of more than 64 bits get an exponent; digits in strings do not change', () => {
    expect(jsonValue({ k: 2 ** 64, l: -(2 ** 63) })).toBe('{"k":1.8446744073709552e+19,"l":-9.223372036854776e+18}');
    const kept = '{"k":9223372036854775000,"s":"99999999999999999999999","0123456789012345678999":1}';
    expect(jsonValue(JSON.parse(kept))).toBe(kept);
    const fractions = '{"small":0.0000027890519600733534,"list":[-0.0001234567890123456789]}';
    expect(jsonValue(JSON.parse(fractions))).toBe(
      '{"small":0.0000027890519600733534,"list":[-0.00012345678901234567]}',
    );
    expect(jsonValue({ t: 'a"99999999999999999999' })).toBe('{"t":"a\\"99999999999999999999"}');
  });
});
