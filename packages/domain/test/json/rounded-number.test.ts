import { roundedNumberText } from '../../src/json/rounded-number.ts';

const textOf = (body: string): string => {
  const { value, event_value } = JSON.parse(body);
  return roundedNumberText(value ?? event_value, () => body);
};

describe('the text of a value is returned if a Float64 would round it', () => {
  test.each([
    ['{"name":"pay","value":12345678901234567.89}', '12345678901234567.89'],
    ['{"value": -0.1234567890123456789 , "name":"n"}', '-0.1234567890123456789'],
    ['{"event_value":1000000000000000000.01}', '1000000000000000000.01'],
    ['{"properties":{"value":1.2345678901234567,"x":["value",2]},"value":9007199254740993}', '9007199254740993'],
    ['{"value":1,"value":9007199254740993}', '9007199254740993'],
    ['{"v\\u0061lue":9007199254740993}', '9007199254740993'],
  ])('%s', (body, text) => expect(textOf(body)).toBe(text));

  test.each([
    '{"value":19.99}',
    '{"value":999999999999.99}',
    '{"value":5,"name":"1234567890123456789"}',
    '{"value":5,"properties":{"value":9007199254740993}}',
    '{"value":5,"properties":[{"value":9007199254740993}]}',
  ])('%s: empty, because the value is exact', (body) => expect(textOf(body)).toBe(''));
});
