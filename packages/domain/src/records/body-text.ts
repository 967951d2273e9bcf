import { createScanner } from 'jsonc-parser';
import { JSON_TOKEN } from '../json/json-token.ts';

/**
 * The text between the envelope and the body of a raw record. The envelope cannot contain it, because quotes in a JSON string are escaped, and no
 * other field is called body.
 */
export const BODY_KEY = ',"body":';

/** The text of a record. `Buffer.from` with these arguments does not copy the bytes. */
export function recordText(record: Uint8Array): string {
  return Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString();
}

/** Returns the text of the request's body from the bytes of a raw record. */
export function bodyTextOf(record: Uint8Array): string {
  const text = recordText(record);
  return text.slice(text.indexOf(BODY_KEY) + BODY_KEY.length, -1);
}

/**
 * Returns the keys of a JSON object, each once, in the order in which they are in the text. (JavaScript's objects put integer-like keys
 * first.) The object is the whole text, or its field `within`. Uses a scanner and no parse tree, so deep nesting cannot overflow the stack.
 */
export function keysInTextOrder(text: string, within?: string): readonly string[] {
  const scanner = createScanner(text, true);
  const level = within === undefined ? 1 : 2;
  let keys = new Set<string>();
  let depth = 0;
  let topKey: string | undefined;
  let expectsKey = false;
  const isObject: boolean[] = [];
  for (let token: number = scanner.scan(); token !== JSON_TOKEN.end; token = scanner.scan()) {
    if (token === JSON_TOKEN.openBrace || token === JSON_TOKEN.openBracket) {
      depth += 1;
      expectsKey = token === JSON_TOKEN.openBrace;
      if (depth <= level) isObject[depth] = expectsKey;
      // If the field `within` is sent twice, the last one counts.
      if (depth === level && topKey === within) keys = new Set();
    } else if (token === JSON_TOKEN.closeBrace || token === JSON_TOKEN.closeBracket) {
      depth -= 1;
    } else if (token === JSON_TOKEN.string && expectsKey) {
      expectsKey = false;
      const key = scanner.getTokenValue();
      if (depth === 1) topKey = within === undefined ? undefined : key;
      if (depth === level && topKey === within) keys.add(key);
    } else if (token === JSON_TOKEN.comma) {
      expectsKey = isObject[depth] === true;
    }
  }
  return [...keys];
}
