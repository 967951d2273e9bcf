import { jsonFault } from '../../src/json/json-fault.ts';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test.each([
  ['', 0],
  [' \n ', 3],
  ['{"a":1', 6],
  ['{"a":1,}', 7],
  ["{'a':1}", 1],
  ['{"a" 1}', 5],
  ['{"a":[1,2', 9],
  ['{"a":[1,]}', 8],
  ['[1}', 2],
  ['{"a":01}', 6],
  ['{"a":nul}', 5],
  ['{"a":"b\nc"}', 5],
  ['{"a":"\\x"}', 5],
  ['{} {}', 3],
  ['{"a":1]', 6],
])('%j stops being JSON at %d', (text, at) => {
  expect(jsonFault(text)).toBe(at);
});

test('has no fault where JSON.parse finds none, for each way to cut or change a text', () => {
  const text = ' {"a":[1,-2.5e+3,"x\\n\\u00e9",[],{}],"b":{"c":null,"d":[true,false]}} ';
  const changed = [...text].flatMap((_, at) => [
    text.slice(0, at),
    text.slice(at),
    ...[...'"[]{},:0\\n'].map((char) => text.slice(0, at) + char + text.slice(at + 1)),
    text.slice(0, at) + text.slice(at + 1),
  ]);
  for (const one of [text, ...changed]) expect([one, jsonFault(one) === undefined]).toEqual([one, isJson(one)]);
});

test('a text can be nested deeply, and its strings can be long', () => {
  expect(jsonFault('['.repeat(500_000))).toBe(500_000);
  expect(jsonFault(`["${'x\\n'.repeat(300_000)}"`)).toBe(900_003);
});
