import type { SyntaxKind } from 'jsonc-parser';

/**
 * The kinds of tokens of jsonc-parser that this package uses. The library's const enum `SyntaxKind` cannot be used in isolated modules.
 * A number that is not in `SyntaxKind` does not compile.
 */
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
