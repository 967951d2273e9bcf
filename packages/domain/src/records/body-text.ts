import { createScanner } from 'jsonc-parser';
import { JSON_TOKEN } from '../json/json-token.ts';

const BODY = ',"body":';

/**
 * The request's own text out of a raw record's bytes. The head can't hold the mark: in a JSON text a quote within a string
 * is escaped, and no key of the head is called body.
 */
export function bodyTextOf(record: Uint8Array): string {
  const text = Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString();
  return text.slice(text.indexOf(BODY) + BODY.length, -1);
}

/**
 * The keys of a JSON object in the order of its text, each once: of the top object, or of the object in its field `within`.
 * JavaScript's own objects put integer-like keys first. A scanner and no parse tree: nesting costs no stack.
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
      // A key that is sent twice counts as it was sent last.
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
