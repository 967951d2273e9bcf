import type { SyntaxKind } from 'jsonc-parser';

/** jsonc-parser's own names are a const enum, which isolated modules can't read; a number that is none of them doesn't compile. */
export const JSON_TOKEN = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  string: 10,
  number: 11,
  end: 17,
} as const satisfies Record<string, SyntaxKind>;
