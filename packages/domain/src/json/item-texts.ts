import { CHAR, keyOf, stringEnd } from './scan-text.ts';

/**
 * Returns the items of an array as texts, each exactly as it was sent. (JSON.parse rounds numbers and keeps only one of several equal
 * keys, so parsing an item and serialising it again can change it.) The array is the value of the key `name` at the top level of `text`. If
 * the key is repeated, the last one counts, as in JSON.parse. `text` must be valid JSON, and the value must be an array.
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
