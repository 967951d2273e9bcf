export type SqlTokenKind = 'word' | 'quoted_identifier' | 'string' | 'number' | 'symbol';

/** `text`: the text between the quotes of a quoted identifier; otherwise the token as written. `start`, `end`: positions in the SQL. */
export interface SqlToken {
  readonly kind: SqlTokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The SQL text cannot be divided into tokens, or ClickHouse could divide it in another way. */
export class SqlTokenError extends Error {
  override readonly name = 'SqlTokenError';
}

const SPACE = /\s+/y;
const LINE_COMMENT = /(?:--|\/\/|#!|# )[^\n]*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_$]*/y;
const NUMBER = /(?:0[xXbB][0-9A-Fa-f_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9]+)?)/y;
const HEREDOC = /\$([A-Za-z0-9_]*)\$/y;
const STRING = /'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'/y;
const BACKTICKED = /`[^`\\]*(?:(?:\\[\s\S]|``)[^`\\]*)*`/y;
const DOUBLE_QUOTED = /"[^"\\]*(?:(?:\\[\s\S]|"")[^"\\]*)*"/y;

/** Divides SQL into tokens, without comments and white space. Throws `SqlTokenError` for unclosed or unknown tokens. */
export function sqlTokens(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(sql)?.[0];
  };
  const push = (kind: SqlTokenKind, length: number, text = sql.slice(at, at + length)): void => {
    tokens.push({ kind, text, start: at, end: at + length });
    at += length;
  };

  while (at < sql.length) {
    const skipped = match(SPACE) ?? match(LINE_COMMENT);
    if (skipped !== undefined) {
      at += skipped.length;
      continue;
    }
    if (sql.startsWith('/*', at)) {
      const close = sql.indexOf('*/', at + 2);
      if (close < 0) throw new SqlTokenError('a comment is not closed');
      // Nested comments are refused, because it depends on the version of ClickHouse whether comments can be nested.
      if (sql.slice(at + 2, close).includes('/*'))
        throw new SqlTokenError('a comment must not contain another comment');
      at = close + 2;
      continue;
    }
    const char = sql.charAt(at);
    if (char === "'") {
      const text = match(STRING);
      if (text === undefined) throw new SqlTokenError('a string is not closed');
      push('string', text.length);
    } else if (char === '`' || char === '"') {
      const text = match(char === '`' ? BACKTICKED : DOUBLE_QUOTED);
      if (text === undefined) throw new SqlTokenError('a quoted identifier is not closed');
      // An escape could spell a forbidden name (`\x66ile`) in a way that only ClickHouse decodes.
      if (text.includes('\\')) throw new SqlTokenError('a quoted identifier must not contain a backslash');
      push('quoted_identifier', text.length, text.slice(1, -1));
    } else if (char === '$') {
      const tag = match(HEREDOC);
      const close = tag === undefined ? -1 : sql.indexOf(tag, at + tag.length);
      if (tag === undefined || close < 0) throw new SqlTokenError('a heredoc is not closed');
      push('string', close + tag.length - at);
    } else {
      const word = match(WORD);
      const number = word === undefined ? match(NUMBER) : undefined;
      if (word !== undefined) push('word', word.length);
      else if (number !== undefined) push('number', number.length);
      else if (char > '~' || char < ' ')
        throw new SqlTokenError(`the character U+${hex(char)} is only allowed within quotes`);
      else push('symbol', 1);
    }
  }
  return tokens;
}

/** Divides SQL text into its statements, without their semicolons. */
export function sqlStatements(sql: string): string[] {
  const statements: string[] = [];
  let first: SqlToken | undefined;
  let last: SqlToken | undefined;
  const finish = (): void => {
    if (first !== undefined && last !== undefined) statements.push(sql.slice(first.start, last.end));
    first = undefined;
    last = undefined;
  };
  for (const token of sqlTokens(sql)) {
    if (token.kind === 'symbol' && token.text === ';') finish();
    else {
      first ??= token;
      last = token;
    }
  }
  finish();
  return statements;
}

function hex(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
