import { clickhouseError } from './clickhouse-error.ts';
import { SqlTokenError, sqlTokens } from './sql-tokens.ts';

export interface PlannedStatement {
  readonly statement: string;
  /** The rows of an INSERT, otherwise undefined. */
  readonly data: Buffer | undefined;
  /** The format of the answer. */
  readonly format: string;
}

const INSERT = /^\s*INSERT\s/i;
const HAS_DATA = /\b(?:FORMAT\s|VALUES\s*\()/i;
const HEAD_CHARS = 64 * 1024;

/**
 * Splits a request as ClickHouse does: the statement is the parameter `query` followed by the body; the body of an INSERT is its
 * data. As on a ClickHouse server, a request can have only one statement, and no INTO OUTFILE.
 */
export function planStatement(query: string, body: Buffer, defaultFormat: string): PlannedStatement {
  if (INSERT.test(query) && body.length > 0) return { statement: query, data: body, format: defaultFormat };
  const statement = query === '' ? body.toString() : `${query}\n${body.toString()}`;
  if (statement.trim() === '') throw clickhouseError(62, 'SYNTAX_ERROR', 'Syntax error: the query is empty');
  // Rows within the statement are not SQL: the engine reads everything after FORMAT or VALUES as rows.
  const insert = INSERT.exec(statement)?.[0];
  if (insert !== undefined && query === '' && HAS_DATA.test(statement.slice(0, HEAD_CHARS))) {
    return { statement: 'INSERT', data: Buffer.from(statement.slice(insert.length)), format: defaultFormat };
  }
  return { statement, data: undefined, format: answerFormat(statement, defaultFormat) };
}

function answerFormat(statement: string, defaultFormat: string): string {
  try {
    const tokens = sqlTokens(statement);
    while (tokens.at(-1)?.text === ';') tokens.pop();
    if (tokens.some((token) => token.kind === 'symbol' && token.text === ';')) {
      throw clickhouseError(62, 'SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed)');
    }
    if (tokens.some((token) => token.kind === 'word' && token.text.toUpperCase() === 'OUTFILE')) {
      throw clickhouseError(344, 'SUPPORT_IS_DISABLED', 'INTO OUTFILE is not allowed', 400);
    }
    for (let index = tokens.length - 2; index >= 0; index -= 1) {
      const next = tokens[index + 1];
      if (tokens[index]?.kind === 'word' && tokens[index]?.text.toUpperCase() === 'FORMAT' && next?.kind === 'word') {
        return next.text;
      }
    }
    return defaultFormat;
  } catch (error) {
    if (error instanceof SqlTokenError) throw clickhouseError(62, 'SYNTAX_ERROR', `Syntax error: ${error.message}`);
    throw error;
  }
}
