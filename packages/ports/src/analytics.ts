import type { Readable } from 'node:stream';

/**
 * The analytics store: ClickHouse, embedded or a server (`packages/adapters/src/clickhouse/clickhouse-analytics.ts`).
 * Every method except `close` rejects with `analytics_unavailable` (a retry may succeed) or `analytics_refused` (a retry
 * of the same call fails again).
 */
export interface Analytics {
  /**
   * Resolves when the migrations of `schemas/clickhouse` are applied, except those that only a replay can apply (`missingRebuilds` in
   * shadow-tables.ts). Safe to call from several processes at once.
   */
  migrate(): Promise<void>;

  /**
   * Resolves when all lines are stored durably in `records`, as one block, and in every view's target table.
   * Calling it again with the same token and the same bytes changes nothing. After `analytics_unavailable` the rows may be
   * stored, now or later. After `analytics_refused` none of them is stored, with one exception: if a view refused a row, `records` can have all
   * rows. Rejects with `generation_changed` if the tables have another generation than the batch; then none of the lines is stored.
   */
  insertRecords(batch: RecordsBatch): Promise<void>;

  /**
   * Resolves with the generation of the tables: a number that grows by 1 whenever all tables are exchanged for a new set.
   * Rejects with `generation_changed` while tables are being exchanged.
   */
  generation(): Promise<number>;

  /** Resolves with the highest raw offset (docs/glossary.md) of this log and partition in the table `records`, or -1 if the table has none. */
  highestRawOffset(logId: string, partition: number): Promise<number>;

  /**
   * Resolves with the number of the latest block of the table `records`. Each insert gets the next number, and some other changes of the table too.
   * Resolves with undefined if Weir may not read this number.
   */
  latestBlock(): Promise<number | undefined>;

  /**
   * Runs one of Weir's own read-only queries, of at most `STATEMENT_BYTES_MAX`. `params` are the values of its `{name:Type}` placeholders.
   */
  select<Row>(query: string, params?: Readonly<Record<string, unknown>>): Promise<readonly Row[]>;

  /**
   * Runs one of Weir's own statements that change tables, of at most `STATEMENT_BYTES_MAX`. Resolves when it is done; an ALTER … DELETE is
   * then done on all replicas. After `analytics_unavailable`, the statement may still be carried out later. An INSERT … SELECT inserts one block.
   * Repeating the INSERT with the same `token` changes nothing, for TOKEN_KEPT_MS after its first attempt.
   */
  change(statement: string, token?: string): Promise<void>;

  /**
   * Waits for the inserts into the tables of a database. Resolves when each insert that is running now has ended. It does
   * not wait for inserts that begin later.
   */
  runningInsertsEnd(database: string): Promise<void>;

  /**
   * Runs a user's query or a report: one read-only statement, with limits for its time, its memory and its answer. Rejects with
   * `analytics_refused` if the query is not allowed.
   */
  userQuery(
    query: string,
    params: Readonly<Record<string, unknown>>,
    options?: UserQueryOptions,
  ): Promise<UserQueryResult>;

  /**
   * Runs a read-only query of Weir, which must have no FORMAT clause. Resolves with a stream of its answer in `format`. It can take up to
   * `secondsMax` until the first byte is available and the promise resolves. The store computes the answer only as fast as the caller reads it, and
   * does not buffer it. Destroying the stream cancels the query. If the query fails later, the stream ends with an error.
   */
  streamQuery(query: string, params: Readonly<Record<string, unknown>>, options: StreamOptions): Promise<Readable>;

  /** Resolves when the store answers a query. */
  ping(): Promise<void>;

  /**
   * Sends a request that runs no query and does not wait for other statements, so a busy server responds too. Resolves when the server
   * responds or refuses the connection. Rejects if it does neither within `withinMs`: the process is stopped, or the machine is unreachable.
   */
  responds(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * The store remembers the token of an INSERT for at least this time: it keeps the last 10,000 tokens of a table, and with 12 partitions (the default
 * on Kafka), the writers make as many inserts in 208 s.
 */
const TOKEN_KEPT_MS = 60_000;

/** Whether the store still remembers the token of an INSERT that began at `begunAt`. `now` is earlier than `begunAt` if the clock was set back. */
export function isTokenKept(begunAt: number, now: number): boolean {
  return now >= begunAt && now - begunAt < TOKEN_KEPT_MS;
}

/**
 * The store remembers the token of an INSERT into `records` at least until so many later blocks (`latestBlock`). It is half of the 10,000 tokens that
 * each table keeps, because an insert can need two tokens in the target table of a view: one for each month.
 */
export const TOKEN_KEPT_BLOCKS = 5_000;

export const STATEMENT_BYTES_MAX = 64 * 1024 * 1024;

export interface RecordsBatch {
  readonly columns: readonly string[];
  /** JSONCompactEachRow: one record per line, each line ends in \n. */
  readonly lines: readonly Uint8Array[];
  /** `records:<log_id>:<partition>:<from>-<to>:<version>`: the first and the last raw offset, and the version of the column list. */
  readonly token: string;
  /** The batch is stored only if the tables have this generation. If it is undefined, the batch is stored in tables of any generation. */
  readonly generation: number | undefined;
}

export interface StreamOptions {
  /** A format of ClickHouse. */
  readonly format: 'Parquet' | 'CSVWithNames' | 'JSONEachRow' | 'JSONCompactEachRow';
  readonly secondsMax: number;
  /** If this signal aborts before the answer begins, `streamQuery` rejects, and the store cancels the query. */
  readonly signal?: AbortSignal | undefined;
}

export interface UserQueryOptions {
  /** When this signal aborts, the store cancels the query. */
  readonly signal?: AbortSignal | undefined;
  /**
   * True if Weir wrote the statement: an unknown table then rejects with `analytics_unavailable`, because the tables are not migrated yet.
   * False (the default) if a user wrote the statement: an unknown table then rejects with `analytics_refused`.
   */
  readonly isReport?: boolean;
}

export interface UserQueryResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}
