import type { Readable } from 'node:stream';
import { getHeapStatistics } from 'node:v8';
import type { BaseResultSet, ClickHouseClient } from '@clickhouse/client';
import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { stringEnd } from '@weir/domain/json/scan-text';
import type { UserQueryOptions, UserQueryResult } from '@weir/ports/analytics';
import {
  checkUserQuery,
  USER_QUERY_MEMORY_BYTES_MAX,
  USER_QUERY_RESULT_BYTES_MAX,
  USER_QUERY_ROWS_MAX,
  USER_QUERY_SECONDS_MAX,
  USER_QUERY_SPILL_BYTES,
} from './check-user-query.ts';
import { isTypeError, userQueryError } from './clickhouse-errors.ts';

const PARAM_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const PARAMS_MAX = 100;
const PARAMS_IN_URL_CHARS_MAX = 4_000;

/**
 * An answer has at most one 32nd of the size limit of the heap, because the heap contains each answer several times: as text, as values, and as
 * the text of Weir's own answer. Without this limit, a process with a small heap would run out of memory.
 */
const HEAP_PART = 32;
const RESULT_BYTES_MAX = Math.min(
  USER_QUERY_RESULT_BYTES_MAX,
  Math.floor(getHeapStatistics().heap_size_limit / HEAP_PART),
);

/** Each row of Weir's answer repeats the names of the columns. This is the limit for the names of all rows together, in bytes of JSON. */
const NAMES_BYTES_MAX = 2 * RESULT_BYTES_MAX;

const USER_QUERY_SETTINGS = {
  readonly: '1',
  max_execution_time: USER_QUERY_SECONDS_MAX,
  timeout_overflow_mode: 'throw',
  max_memory_usage: String(USER_QUERY_MEMORY_BYTES_MAX),
  max_bytes_before_external_group_by: String(USER_QUERY_SPILL_BYTES),
  max_result_rows: String(USER_QUERY_ROWS_MAX),
  max_result_bytes: String(RESULT_BYTES_MAX),
  result_overflow_mode: 'throw',
  output_format_json_quote_64bit_integers: 0,
} as const;

/**
 * A property or a trait has the type Dynamic. Without these settings, ClickHouse refuses to group or sort by a Dynamic. A reader with a user of its
 * own has these settings in its profile (infra/clickhouse/users.yaml).
 */
export const DYNAMIC_KEYS = { allow_suspicious_types_in_group_by: 1, allow_suspicious_types_in_order_by: 1 } as const;

/**
 * ClickHouse refuses a comparison such as `properties.level = 'gold'` if the property is a number in a row that it compares. In PREWHERE,
 * ClickHouse evaluates the conditions of a statement for rows that another condition excludes, for example for rows of other sites. Without
 * PREWHERE, it evaluates them from left to right, each one only for the rows that are left.
 */
const WITHOUT_PREWHERE = { optimize_move_to_prewhere: 0 } as const;

interface CompactAnswer {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
}

/**
 * Runs a query read-only and with limits. Rejects with `analytics_refused` if `checkUserQuery` refuses the query. When the signal
 * aborts, the client closes the connection, and ClickHouse cancels the query. A user's query that fails because of the type of a value is run a
 * second time, without PREWHERE.
 */
export async function runUserQuery(
  client: ClickHouseClient,
  query: string,
  params: Readonly<Record<string, unknown>>,
  { signal, isReport = false }: UserQueryOptions,
): Promise<UserQueryResult> {
  const checked = checkUserQuery(query);
  if ('refused' in checked) throw new DependencyError('analytics_refused', checked.refused);
  const names = Object.keys(params);
  if (names.length > PARAMS_MAX || !names.every((name) => PARAM_NAME.test(name))) {
    throw new DependencyError(
      'analytics_refused',
      `a query has at most ${PARAMS_MAX} params, with names that match ${PARAM_NAME.source}`,
    );
  }
  const ask = async (settings: typeof WITHOUT_PREWHERE | Record<string, never>): Promise<string> => {
    const answer = await client.query({
      query: checked.statement,
      query_params: { ...params },
      use_multipart_params: JSON.stringify(params).length > PARAMS_IN_URL_CHARS_MAX,
      format: 'JSONCompact',
      clickhouse_settings: { ...USER_QUERY_SETTINGS, ...settings },
      ...(signal === undefined ? {} : { abort_signal: signal }),
    });
    return textOf(answer);
  };
  try {
    // The client ignores a signal that has aborted before the call: it would run the whole query.
    signal?.throwIfAborted();
    const text = await ask({}).catch((error: unknown) => {
      if (isReport || !isTypeError(error)) throw error;
      return ask(WITHOUT_PREWHERE).catch(() => {
        throw error;
      });
    });
    const { meta, data } = JSON.parse(exactIntegers(text)) as CompactAnswer;
    const columns = meta.map(({ name, type }) => ({ name, type }));
    const nameBytes = columns.reduce((sum, { name }) => sum + Buffer.byteLength(JSON.stringify(name)), 0);
    if (nameBytes * data.length > NAMES_BYTES_MAX) {
      const message = `the result is larger than is allowed: its ${data.length} rows repeat ${nameBytes} bytes of column names. Use shorter names or fewer rows`;
      throw new DependencyError('analytics_refused', message);
    }
    const rows = data.map((values) => Object.fromEntries(columns.map(({ name }, index) => [name, values[index]])));
    return { columns, rows };
  } catch (error) {
    if (isDependencyError(error)) throw error;
    throw userQueryError(error, isReport);
  }
}

/**
 * Reads an answer of at most RESULT_BYTES_MAX. If the answer is longer, throws and closes the connection. ClickHouse does not enforce this limit:
 * `max_result_bytes` counts the bytes of the columns, and counts a constant column as one value. Uses `consume`, a private method of the client that
 * returns the bytes, because the public methods collect the whole answer first or do not accept this format.
 */
async function textOf(answer: BaseResultSet<Readable, 'JSONCompact'>): Promise<string> {
  const stream = (answer as unknown as { consume(): AsyncIterable<Buffer> }).consume();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > RESULT_BYTES_MAX) {
      const message = `the result is larger than is allowed: its JSON has more than ${RESULT_BYTES_MAX} bytes`;
      throw new DependencyError('analytics_refused', message);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Quotes integers and decimals that JavaScript would round. All other numbers stay numbers. A Float64 is never quoted, because ClickHouse
 * and JavaScript write a Float64 in the same shortest form.
 */
export function exactIntegers(json: string): string {
  const tokens = /"|-?\d[\d.eE+-]*/g;
  const parts: string[] = [];
  let from = 0;
  for (let found = tokens.exec(json); found !== null; found = tokens.exec(json)) {
    const [token] = found;
    if (token === '"') {
      // Skips the string. A regular expression that matches a whole string needs memory for each escape, and throws if there are millions of them.
      tokens.lastIndex = stringEnd(json, found.index) + 1;
    } else if (isRounded(token)) {
      parts.push(json.slice(from, found.index), `"${token}"`);
      from = tokens.lastIndex;
    }
  }
  return parts.join('') + json.slice(from);
}

function isRounded(token: string): boolean {
  if (/^-?\d{16,}$/.test(token)) return String(Number(token)) !== token;
  return token.length > 16 && /^-?\d+\.\d+$/.test(token) && String(Number(token)) !== token;
}
