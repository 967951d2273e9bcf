import { clickhouseError } from './clickhouse-error.ts';
import { type SqlToken, SqlTokenError, sqlTokens } from './sql-tokens.ts';

export interface PlannedStatement {
  readonly statement: string;
  /** The part of an INSERT that follows `statement`: the rows, or everything after the word INSERT. Undefined if the request has no rows. */
  readonly data: Buffer | undefined;
  /** The format of the answer. */
  readonly format: string;
  /** True if the statement certainly changes nothing. */
  readonly isRead: boolean;
  /** True if the statement inserts rows: those of `data`, or those of its own SELECT. Except into SMALL_TABLE. */
  readonly isInsert: boolean;
}

const INSERT = /^\s*INSERT\s/i;
const HAS_DATA = /\b(?:FORMAT\s|VALUES\s*\()/i;
/**
 * Rows of this table are inserted even if the disk has less free space than the reserve: otherwise no migration could end, and reports would not
 * start. A row has a few bytes. If it is lost, the statements of its migration are repeated, which does no harm.
 */
const SMALL_TABLE = 'SCHEMA_MIGRATIONS';
const HEAD_CHARS = 64 * 1024;
const READS = new Set(['SELECT', 'WITH', 'FROM', 'SHOW', 'DESCRIBE', 'DESC', 'EXISTS', 'EXPLAIN']);
/** A statement that begins like a query, but contains one of these words, can change tables: `WITH … INSERT`. */
const WRITES = new Set(['INSERT', 'ALTER', 'CREATE', 'PARALLEL']);

/**
 * Splits a request as ClickHouse does. If the parameter `query` is an INSERT, the body contains its data. Otherwise, the statement is `query`
 * followed by the body. As on a ClickHouse server, a request can have only one statement, and no INTO OUTFILE.
 */
export function planStatement(query: string, body: Buffer, defaultFormat: string): PlannedStatement {
  const insertOf = (head: string, data: Buffer) => ({
    statement: head,
    data,
    format: defaultFormat,
    isRead: false,
    isInsert: true,
  });
  if (INSERT.test(query) && body.length > 0) return insertOf(query, body);
  const statement = query === '' ? body.toString() : `${query}\n${body.toString()}`;
  if (statement.trim() === '') throw clickhouseError(62, 'SYNTAX_ERROR', 'Syntax error: the query is empty');
  // The engine reads everything after FORMAT or VALUES as rows. Rows are not SQL, so they must not be divided into tokens.
  const insert = INSERT.exec(statement)?.[0];
  if (insert !== undefined && query === '' && HAS_DATA.test(statement.slice(0, HEAD_CHARS))) {
    return insertOf('INSERT', Buffer.from(statement.slice(insert.length)));
  }
  return { statement, data: undefined, ...planWithoutData(statement, defaultFormat) };
}

function planWithoutData(
  statement: string,
  defaultFormat: string,
): Pick<PlannedStatement, 'format' | 'isRead' | 'isInsert'> {
  try {
    const tokens = sqlTokens(statement);
    while (tokens.at(-1)?.text === ';') tokens.pop();
    if (tokens.some((token) => token.kind === 'symbol' && token.text === ';')) {
      throw clickhouseError(62, 'SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed)');
    }
    if (tokens.some((token) => token.kind === 'word' && token.text.toUpperCase() === 'OUTFILE')) {
      throw clickhouseError(344, 'SUPPORT_IS_DISABLED', 'INTO OUTFILE is not allowed', 400);
    }
    const words = tokens.filter(({ kind }) => kind === 'word').map(({ text }) => text.toUpperCase());
    const isRead = READS.has(words[0] ?? '') && !words.some((word) => WRITES.has(word));
    const isInsert = !isRead && words.includes('INSERT') && !words.includes(SMALL_TABLE);
    return { format: answerFormat(tokens) ?? defaultFormat, isRead, isInsert };
  } catch (error) {
    if (error instanceof SqlTokenError) throw clickhouseError(62, 'SYNTAX_ERROR', `Syntax error: ${error.message}`);
    throw error;
  }
}

function answerFormat(tokens: readonly SqlToken[]): string | undefined {
  for (let index = tokens.length - 2; index >= 0; index -= 1) {
    const next = tokens[index + 1];
    if (tokens[index]?.kind === 'word' && tokens[index]?.text.toUpperCase() === 'FORMAT' && next?.kind === 'word') {
      return next.text;
    }
  }
  return undefined;
}
