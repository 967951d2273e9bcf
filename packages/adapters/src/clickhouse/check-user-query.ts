import { SQL_CHARS_MAX } from '@weir/domain/registry/admin-limits';
import { type SqlToken, SqlTokenError, sqlTokens } from '@weir/embedded-clickhouse/sql-tokens';

export const USER_QUERY_ROWS_MAX = 100_000;
export const USER_QUERY_RESULT_BYTES_MAX = 128 * 1024 * 1024;
export const USER_QUERY_SECONDS_MAX = 30;
export const USER_QUERY_MEMORY_BYTES_MAX = 2 * 1024 * 1024 * 1024;
/**
 * If grouping needs more memory than this, ClickHouse does it on disk. With this limit, a report over one year needs less than 500 MB of memory,
 * but up to 40 % more CPU time.
 */
export const USER_QUERY_SPILL_BYTES = 384_000_000;

const FIRST_WORDS = new Set(['SELECT', 'WITH', 'FROM', 'SHOW', 'DESCRIBE', 'DESC', 'EXPLAIN', 'EXISTS']);
const SHOWN = new Set(
  'TABLES COLUMNS FIELDS FULL EXTENDED CREATE TABLE VIEW DATABASES INDEX INDEXES INDICES KEYS FUNCTIONS'.split(' '),
);
/** The objects of ClickHouse's access control. The check refuses `SHOW CREATE` for them. */
const ACCESS = new Set('USER ROLE QUOTA POLICY PROFILE ROW SETTINGS MASKING'.split(' '));
/**
 * Functions that the check refuses. They read files, send requests, write to the log of ClickHouse or to Keeper, show ClickHouse's configuration
 * or internals, show headers with credentials, or take the name of a table as a string. A name is refused also without parentheses, because
 * `APPLY file` and `arrayMap(file, …)` call the function too. Exception: after a dot, the name is a column.
 */
const FUNCTIONS_FORBIDDEN = new Set(
  (
    'file catboostevaluate naivebayesclassifier naivebayesclassifierwithprob naivebayesclassifierwithallprobs aiclassify aiembed ' +
    'aiextract aigenerate aitranslate logtrace getclienthttpheader showcertificate getmacro getserversetting generateserialid ' +
    'hascolumnintable joinget joingetornull addresstoline addresstolinewithinlines addresstosymbol'
  ).split(' '),
);
/**
 * The check refuses all tables of this database. In the embedded engine, this database has a table for each file of the machine:
 * `default.\`/etc/passwd\``. With the setting `readonly`, ClickHouse refuses to read such a table. But the message of the refusal, and `EXISTS`,
 * show whether the file exists. Weir has no tables in this database.
 */
const DATABASE_OF_FILES = 'default';
/**
 * Matches the beginning of the names of table functions that read data from outside of the store, run a program, or can read tables of `system`
 * that the check refuses. The check refuses such a name before a parenthesis. `URLHash`, `URLHierarchy` and `URLPathHierarchy` are allowed: they
 * are harmless scalar functions.
 */
const TABLE_FUNCTIONS_FORBIDDEN =
  /^(?:url(?!hash|hierarchy|pathhierarchy)|s3|gcs|oss|cosn|hdfs|azureblobstorage|iceberg|deltalake|hudi|paimon|remote|cluster|mysql|postgresql|mongodb|redis|sqlite|odbc|jdbc|ytsaurus|arrowflight|executable|python|input|file|merge|loop|mergetree|timeseries|prometheus|kafka|nats|rabbitmq|eval|arrowstream|dictionary|viewexplain)/;
const SYSTEM_TABLES_ALLOWED = new Set(
  (
    'one numbers numbers_mt zeros tables columns databases functions formats time_zones data_type_families ' +
    'parts parts_columns table_engines table_functions build_options licenses keywords'
  ).split(' '),
);

/**
 * Enforces the rule of docs/api.md, SQL: a statement must not write, change settings, or read files, URLs or remote tables. ClickHouse's
 * setting `readonly` refuses most of these statements. This function also refuses what `readonly` allows, for example `INTO OUTFILE`, `KILL`, scalar
 * `file()`, several statements, and most tables of `system`. Returns the statement without a trailing semicolon, or the reason for the refusal.
 */
export function checkUserQuery(sql: string): { readonly statement: string } | { readonly refused: string } {
  if (sql.length > SQL_CHARS_MAX) return { refused: `a query must be at most ${SQL_CHARS_MAX} characters` };
  let tokens: SqlToken[];
  try {
    tokens = sqlTokens(sql);
  } catch (error) {
    if (error instanceof SqlTokenError) return { refused: error.message };
    throw error;
  }
  while (isSymbol(tokens.at(-1), ';')) tokens.pop();
  const refused = refusal(tokens);
  if (refused !== undefined) return { refused };
  return { statement: sql.slice(tokens[0]?.start, tokens.at(-1)?.end) };
}

function refusal(tokens: readonly SqlToken[]): string | undefined {
  if (tokens.length === 0) return 'the query is empty';
  if (tokens.some((token) => isSymbol(token, ';'))) return 'exactly one statement is allowed';
  const first = tokens.find((token) => !isSymbol(token, '('));
  const verb = first?.kind === 'word' ? first.text.toUpperCase() : '';
  if (!FIRST_WORDS.has(verb)) return 'only SELECT, WITH, SHOW, DESCRIBE, EXPLAIN and EXISTS are allowed';
  if (verb === 'SHOW' && !SHOWN.has(tokens[1]?.text.toUpperCase() ?? '')) return 'this SHOW is not allowed';
  if (verb === 'SHOW' && ACCESS.has(tokens[2]?.text.toUpperCase() ?? ''))
    return 'users, roles and quotas cannot be shown';
  for (let index = 0; index < tokens.length; index += 1) {
    const reason = tokenRefusal(tokens, index);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function tokenRefusal(tokens: readonly SqlToken[], index: number): string | undefined {
  const token = tokens[index];
  if (token === undefined || (token.kind !== 'word' && token.kind !== 'quoted_identifier')) return undefined;
  const previous = tokens[index - 1];
  const next = tokens[index + 1];
  const name = token.text.toLowerCase();
  const isMember = isSymbol(previous, '.');

  if (token.kind === 'word') {
    if (name === 'outfile') return 'INTO OUTFILE is not allowed';
    // ClickHouse replaces a parameter `{name:Identifier}` after this check. The parameter could name any table.
    if (name === 'identifier' && isSymbol(previous, ':')) return 'parameters of type Identifier are not allowed';
    if (name === 'settings' && !isMember && isSettingsClause(tokens, index)) return 'SETTINGS are not allowed';
    if (name === 'format' && next?.kind === 'word' && index === tokens.length - 2) return 'FORMAT is not allowed';
  }
  if (name === DATABASE_OF_FILES && !isMember && isSymbol(next, '.'))
    return `the database ${token.text} is not allowed`;
  if (!isMember && FUNCTIONS_FORBIDDEN.has(name)) return `${token.text} is not allowed`;
  if (isSymbol(next, '(') && TABLE_FUNCTIONS_FORBIDDEN.test(name)) return `${token.text}() is not allowed`;
  if (name === 'system' && !isMember && isSymbol(next, '.')) {
    const table = tokens[index + 2]?.text.toLowerCase() ?? '';
    if (!SYSTEM_TABLES_ALLOWED.has(table)) return `system.${table} is not allowed`;
  }
  return undefined;
}

function isSettingsClause(tokens: readonly SqlToken[], index: number): boolean {
  const kind = tokens[index + 1]?.kind;
  return (kind === 'word' || kind === 'quoted_identifier') && isSymbol(tokens[index + 2], '=');
}

function isSymbol(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'symbol' && token.text === text;
}
