import fc from 'fast-check';
import { itemTexts } from '../../src/json/item-texts.ts';

test.each([
  ['{"events":[]}', []],
  ['{"events":[ \n]}', []],
  ['{"events":[{"a":9007199254740993}, {"b":1e400 } ]}', ['{"a":9007199254740993}', '{"b":1e400 }']],
  ['{"events":[1,"]",[2,[3]],null,"\\"\\\\"],"after":[4]}', ['1', '"]"', '[2,[3]]', 'null', '"\\"\\\\"']],
  ['{"before":{"events":[1]},"events":[2],"after":{"events":[3]}}', ['2']],
  ['{"events":[1],"events":[2,3]}', ['2', '3']],
  ['{"events":{"a":[1,2]},"events":[2]}', ['2']],
  ['{"x":"events","events":[{"events":[1,2]}],"y":"events"}', ['{"events":[1,2]}']],
  ['{"\\u0065vents":["a\\u002cb"]}', ['"a\\u002cb"']],
])('%s', (text, wanted) => {
  expect(itemTexts(text, 'events')).toEqual(wanted);
});

test('random items are returned as they were sent', () => {
  const item = fc.json();
  const space = fc.constantFrom('', ' ', '\n', '\t ');
  fc.assert(
    fc.property(fc.array(item), item, space, (items, other, pad) => {
      const text = `{${pad}"other":${other},"events"${pad}:[${pad}${items.join(`${pad},${pad}`)}${pad}],"last":${other}}`;
      expect(itemTexts(text, 'events')).toEqual(items.map((one) => one.trim()));
    }),
  );
});
