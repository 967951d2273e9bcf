import { clickhouseError } from './clickhouse-error.ts';

/** A request to ClickHouse's HTTP interface, read from the URL and the headers. */
export interface QueryRequest {
  readonly query: string;
  readonly queryId: string;
  readonly defaultFormat: string;
  /** `USE` and `SET` statements that prepare the session. */
  readonly setup: readonly string[];
  readonly gzipAnswer: boolean;
  /**
   * If true, the answer of a query is sent while it is computed, in the format `defaultFormat`. The query must then have no FORMAT clause.
   * If false, the answer is buffered, so that an error has its own status.
   */
  readonly streamsAnswer: boolean;
  /**
   * True if the query can only read. Such a query is cancelled when the client closes the connection, as on a server with the setting
   * cancel_http_readonly_queries_on_client_close.
   */
  readonly isReadOnly: boolean;
  /** The largest answer in bytes; 0 if there is no limit. */
  readonly answerBytesMax: number;
  /** True if an insert of this request has a deduplication token, which also applies to the tables of views. */
  readonly deduplicates: boolean;
}

export interface RequestParts {
  readonly method: string;
  readonly params: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly newQueryId: () => string;
  /** The memory that all statements may use together. */
  readonly memoryBytes: number;
}

/** Parameters of the HTTP interface. The embedded engine ignores some of them. Each parameter that is in none of the three sets is a setting. */
const OWN_PARAMS = new Set(
  (
    'query query_id database default_format user password quota_key stacktrace buffer_size wait_end_of_query ' +
    'session_timeout session_check close_session add_http_cors_header'
  ).split(' '),
);
const UNSUPPORTED_PARAMS = new Set(['session_id', 'role']);
const NATIVE_COMPRESSION = new Set(['compress', 'decompress']);

/** Limits for requests that do not set their own. */
const DEFAULT_SETTINGS = {
  max_execution_time: '600',
  max_result_bytes: String(512 * 1024 * 1024),
  max_query_size: String(256 * 1024),
};
/**
 * Settings of a request that limit the memory of its statement. A value above this share of `memoryBytes` is lowered to it. So one large
 * report cannot take the memory that inserts need, and its error says that the statement is too large, not that the engine is busy.
 */
const MEMORY_PARTS = {
  max_memory_usage: 1 / 2,
  max_bytes_before_external_group_by: 1 / 4,
  max_bytes_before_external_sort: 1 / 4,
} as const;
/** A SET statement that is longer than this could exceed the default `max_query_size` of the engine (256 KiB). The limit is then removed first. */
const SET_BYTES_MAX = 250 * 1024;

export function readQueryRequest({ method, params, headers, newQueryId, memoryBytes }: RequestParts): QueryRequest {
  const settings = readSettings(params);
  limitMemory(settings, memoryBytes);
  const readonly = settings.get('readonly') ?? (method === 'GET' || method === 'HEAD' ? '2' : undefined);
  if (readonly !== undefined) settings.set('readonly', readonly);

  const database = params.get('database') ?? text(headers['x-clickhouse-database']) ?? '';
  // One SET statement contains all settings, because each further statement would take a fraction of a millisecond. The engine checks a SET with the
  // settings that were valid before it. So `readonly` does not forbid the other settings of the same statement.
  const all = set(settings);
  const setup = [
    ...(database === '' ? [] : [`USE ${quoteIdentifier(database)}`]),
    // The engine also limits the size of SET. This limit is removed, because a ClickHouse server does not count parameters as a part of the query.
    ...(Buffer.byteLength(all) > SET_BYTES_MAX ? ['SET max_query_size = 0'] : []),
    all,
  ];

  return {
    query: params.get('query') ?? '',
    queryId: params.get('query_id') || newQueryId(),
    defaultFormat: readFormat(params, headers),
    setup,
    gzipAnswer:
      params.get('enable_http_compression') === '1' && /\bgzip\b/.test(text(headers['accept-encoding']) ?? ''),
    streamsAnswer: params.get('wait_end_of_query') === '0',
    isReadOnly: readonly === '1' || readonly === '2',
    answerBytesMax: Number(settings.get('max_result_bytes') ?? 0),
    deduplicates:
      (settings.get('insert_deduplication_token') ?? '') !== '' &&
      settings.get('insert_deduplicate') === '1' &&
      settings.get('deduplicate_blocks_in_dependent_materialized_views') === '1' &&
      settings.get('async_insert') === '0',
  };
}

/** Returns the settings of the request: the default ones, and those of the parameters that do not belong to the HTTP interface itself. */
function readSettings(params: URLSearchParams): Map<string, string> {
  const settings = new Map<string, string>(Object.entries(DEFAULT_SETTINGS));
  for (const [name, value] of params) {
    if (OWN_PARAMS.has(name)) continue;
    if (UNSUPPORTED_PARAMS.has(name) || (NATIVE_COMPRESSION.has(name) && value !== '0')) {
      throw clickhouseError(
        344,
        'SUPPORT_IS_DISABLED',
        `The parameter ${name} is not supported by the embedded engine`,
        400,
      );
    }
    if (NATIVE_COMPRESSION.has(name)) continue;
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
      throw clickhouseError(115, 'UNKNOWN_SETTING', `Unknown setting '${name.slice(0, 128)}'`);
    }
    settings.set(name, value);
  }
  return settings;
}

function limitMemory(settings: Map<string, string>, memoryBytes: number): void {
  for (const [name, part] of Object.entries(MEMORY_PARTS)) {
    const asked = Number(settings.get(name));
    if (asked > memoryBytes * part) settings.set(name, String(Math.floor(memoryBytes * part)));
  }
}

function readFormat(params: URLSearchParams, headers: RequestParts['headers']): string {
  const format = text(headers['x-clickhouse-format']) || params.get('default_format') || 'TabSeparated';
  if (!/^[A-Za-z0-9]{1,64}$/.test(format)) {
    throw clickhouseError(73, 'UNKNOWN_FORMAT', `Unknown format ${format.slice(0, 64)}`);
  }
  return format;
}

function set(settings: Iterable<readonly [string, string]>): string {
  return `SET ${[...settings].map(([name, value]) => `${name} = ${quote(value)}`).join(', ')}`;
}

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function quote(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

function quoteIdentifier(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}
