import { CHAR, keyOf, stringEnd } from './scan-text.ts';

/**
 * The items of an array as texts, each as it was sent. JSON.parse rounds numbers and keeps one of repeated keys, so an item
 * that is serialised again may differ from what was sent. The array is the value of `name` at the top level of `text`: of the
 * last one, as in JSON.parse, if the name is repeated. `text` must be valid JSON, and that value an array.
 */
export function itemTexts(text: string, name: string): string[] {
  let items: string[] = [];
  let depth = 0;
  let expectsKey = false;
  let key = '';
  let isInArray = false;
  let from = 0;

  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    switch (char) {
      case CHAR.quote: {
        const end = stringEnd(text, i);
        if (depth === 1 && expectsKey) {
          key = keyOf(text, i, end);
          expectsKey = false;
        }
        i = end;
        break;
      }
      case CHAR.comma:
        if (depth === 1) expectsKey = true;
        else if (depth === 2 && isInArray) {
          items.push(text.slice(from, i).trim());
          from = i + 1;
        }
        break;
      case CHAR.openBrace:
      case CHAR.openBracket:
        depth += 1;
        if (depth === 1) expectsKey = true;
        else if (depth === 2) {
          isInArray = char === CHAR.openBracket && key === name;
          if (isInArray) items = [];
          from = i + 1;
        }
        break;
      case CHAR.closeBrace:
      case CHAR.closeBracket:
        if (depth === 2 && isInArray) {
          const last = text.slice(from, i).trim();
          if (last !== '') items.push(last);
          isInArray = false;
        }
        depth -= 1;
        break;
    }
  }
  return items;
}
