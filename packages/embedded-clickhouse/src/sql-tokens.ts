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
  for (let at = skipSpace(sql, 0); at < sql.length; ) {
    const token = tokenAt(sql, at);
    tokens.push(token);
    at = skipSpace(sql, token.end);
  }
  return tokens;
}

/** Returns the position of the first character, from `from` on, that is neither white space nor in a comment. */
function skipSpace(sql: string, from: number): number {
  let at = from;
  for (let end: number | undefined = from; end !== undefined; ) {
    at = end;
    end = sql.startsWith('/*', at) ? commentEnd(sql, at) : (endOf(SPACE, sql, at) ?? endOf(LINE_COMMENT, sql, at));
  }
  return at;
}

function commentEnd(sql: string, start: number): number {
  const close = sql.indexOf('*/', start + 2);
  if (close < 0) throw new SqlTokenError('a comment is not closed');
  // Nested comments are refused, because it depends on the version of ClickHouse whether comments can be nested.
  if (sql.slice(start + 2, close).includes('/*')) throw new SqlTokenError('a comment must not contain another comment');
  return close + 2;
}

function tokenAt(sql: string, start: number): SqlToken {
  const token = (kind: SqlTokenKind, end: number): SqlToken => ({ kind, text: sql.slice(start, end), start, end });
  const char = sql.charAt(start);
  if (char === "'") return token('string', closed(endOf(STRING, sql, start), 'string'));
  if (char === '$') return token('string', closed(heredocEnd(sql, start), 'heredoc'));
  if (char === '`' || char === '"') {
    const end = closed(endOf(char === '`' ? BACKTICKED : DOUBLE_QUOTED, sql, start), 'quoted identifier');
    const text = sql.slice(start + 1, end - 1);
    // An escape could spell a forbidden name (`\x66ile`) in a way that only ClickHouse decodes.
    if (text.includes('\\')) throw new SqlTokenError('a quoted identifier must not contain a backslash');
    return { kind: 'quoted_identifier', text, start, end };
  }
  const wordEnd = endOf(WORD, sql, start);
  if (wordEnd !== undefined) return token('word', wordEnd);
  const numberEnd = endOf(NUMBER, sql, start);
  if (numberEnd !== undefined) return token('number', numberEnd);
  if (char > '~' || char < ' ') throw new SqlTokenError(`the character U+${hex(char)} is only allowed within quotes`);
  return token('symbol', start + 1);
}

function heredocEnd(sql: string, start: number): number | undefined {
  const tagEnd = endOf(HEREDOC, sql, start);
  if (tagEnd === undefined) return undefined;
  const tag = sql.slice(start, tagEnd);
  const close = sql.indexOf(tag, tagEnd);
  return close < 0 ? undefined : close + tag.length;
}

function closed(end: number | undefined, what: string): number {
  if (end === undefined) throw new SqlTokenError(`a ${what} is not closed`);
  return end;
}

/** Returns the end of the match of the sticky pattern at `at`. Undefined if the pattern does not match there. */
function endOf(pattern: RegExp, sql: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : undefined;
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
