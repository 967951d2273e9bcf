import { type Readable, Transform } from 'node:stream';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { DependencyError } from '@weir/domain/errors';
import type { StreamOptions } from '@weir/ports/analytics';
import { statementError, WHOLE_OR_ERROR } from './clickhouse-errors.ts';

const MEMORY_BYTES_MAX = 2 * 1024 * 1024 * 1024;
/** If sorting or grouping needs more memory than this, ClickHouse does it on disk. */
const SPILL_BYTES = 512 * 1024 * 1024;
/** ClickHouse processes this many rows at once and has several copies of them in memory. A row of `events` has about a kilobyte. */
const BLOCK_ROWS_MAX = 8_192;
const ROW_GROUP_ROWS_MAX = 65_536;
/** When a query reaches its time limit, the server ends it. From then on, the server has this much time to answer. */
const ANSWER_SECONDS = 30;

const STREAM_SETTINGS = {
  readonly: '1',
  // The embedded engine streams its answer only with this setting. A server always streams.
  wait_end_of_query: 0,
  cancel_http_readonly_queries_on_client_close: 1,
  http_write_exception_in_output_format: 0,
  ...WHOLE_OR_ERROR,
  max_result_rows: '0',
  max_result_bytes: '0',
  max_memory_usage: String(MEMORY_BYTES_MAX),
  max_bytes_before_external_group_by: String(SPILL_BYTES),
  max_bytes_before_external_sort: String(SPILL_BYTES),
  max_block_size: String(BLOCK_ROWS_MAX),
  output_format_parquet_row_group_size: String(ROW_GROUP_ROWS_MAX),
  output_format_parquet_parallel_encoding: 0,
  output_format_json_quote_64bit_integers: 0,
  date_time_output_format: 'iso',
} as const satisfies ClickHouseSettings;

/**
 * Implements `Analytics.streamQuery` (packages/ports/src/analytics.ts). The timeout of `client` must exceed `secondsMax`, because a query that
 * sorts or groups answers only at its end.
 */
export async function streamQuery(
  client: ClickHouseClient,
  query: string,
  params: Readonly<Record<string, unknown>>,
  { format, secondsMax, signal }: StreamOptions,
): Promise<Readable> {
  const hung = AbortSignal.timeout((secondsMax + ANSWER_SECONDS) * 1000);
  try {
    signal?.throwIfAborted();
    const { stream, response_headers: headers } = await client.exec({
      query,
      query_params: { ...params },
      http_headers: { 'X-ClickHouse-Format': format },
      clickhouse_settings: { ...STREAM_SETTINGS, max_execution_time: secondsMax },
      abort_signal: signal === undefined ? hung : AbortSignal.any([signal, hung]),
    });
    const tag = headers?.['x-clickhouse-exception-tag'];
    const answer = stream as Readable;
    return typeof tag === 'string' ? (answer.compose(endWithoutException(tag)) as Readable) : answer;
  } catch (error) {
    throw statementError(error);
  }
}

const TAIL_BYTES = 256;

/**
 * Returns a stream that ends with an error if the query failed after its answer had begun. A server of version 25.11 or later then appends the
 * error to the answer, after a line with `tag`.
 */
function endWithoutException(tag: string): Transform {
  const mark = `${tag}\r\n__exception__`;
  let tail = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      tail = Buffer.concat([tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
      done(null, chunk);
    },
    flush(done) {
      const failed = tail.includes(mark);
      done(
        failed ? new DependencyError('analytics_unavailable', 'ClickHouse failed in the middle of its answer') : null,
      );
    },
  });
}
